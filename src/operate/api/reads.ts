import type { FastifyInstance } from 'fastify';
import type { EventStream } from '../events.ts';
import type { Admit } from './caller.ts';
import { meOf } from './me.ts';
import type { OperatedDesk } from './operated-desk.ts';
import { Refusal } from './refusal.ts';

export interface ReadOptions {
  readonly desk: OperatedDesk;
  readonly events: EventStream;
  readonly admit: Admit;
  readonly version: string;
}

/** Adds what only looks. */
export function addReads(server: FastifyInstance, { desk, events, admit, version }: ReadOptions): void {
  server.get('/api/v1/openapi.json', async (request, reply) => {
    admit(request, 'viewer');
    // Nothing that a start waits for.
    const { openApi } = await import('./openapi.ts');
    return await reply.send(openApi(version));
  });
  server.get('/api/v1/me', async (request, reply) => {
    return await reply.send(meOf(admit(request, 'viewer'), desk, version));
  });
  server.get('/api/v1/status', async (request, reply) => {
    admit(request, 'viewer');
    return await reply.send(desk.status());
  });
  server.get('/api/v1/doubts', async (request, reply) => {
    admit(request, 'viewer');
    return await reply.send({ doubts: desk.doubts() });
  });
  server.get('/api/v1/approvals', async (request, reply) => {
    const caller = admit(request, 'viewer');
    const { approvalsQuery, LIMIT_DEFAULT } = await import('./schema-approvals.ts');
    const query = approvalsQuery.safeParse(request.query);
    if (!query.success) {
      const [{ path, message } = { path: [], message: '' }] = query.error.issues;
      throw new Refusal(400, `${path.join('.')}: ${message}`);
    }
    const { state, after, limit = LIMIT_DEFAULT } = query.data;
    const all = desk.approvals(caller).filter((one) => state === undefined || one.state === state);
    const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const items = all.slice(from, from + limit);
    return await reply.send({ items, ...(from + limit < all.length ? { next: items.at(-1)?.id } : {}) });
  });
  server.get('/api/v1/events', async (request, reply) => {
    admit(request, 'viewer');
    if (events.isFull) throw new Refusal(503, 'too many listeners');
    // It stays open: the time limits of requests are not for it.
    request.raw.socket.setTimeout(0);
    reply.hijack();
    events.add(reply.raw);
    return await reply;
  });
}
