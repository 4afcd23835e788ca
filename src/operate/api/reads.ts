import type { FastifyInstance } from 'fastify';
import type { EventStream, ListenerOptions } from '../events.ts';
import type { SessionStore } from '../sign-in/sessions.ts';
import type { Admit } from './caller.ts';
import type { DeskReads, ReadPath } from './desk-reads.ts';
import { inputOf } from './input.ts';
import { meOf } from './me.ts';
import type { OperatedDesk } from './operated-desk.ts';
import { LIMIT_DEFAULT } from './page-limits.ts';
import { Refusal } from './refusal.ts';
import type { apiRoutes } from './routes.ts';

export interface ReadOptions {
  readonly desk: OperatedDesk;
  /** Omitted: the desk serves only its status and doubts. */
  readonly reads?: DeskReads | undefined;
  readonly events: EventStream;
  readonly admit: Admit;
  readonly version: string;
  /** Sessions, which end the streams opened with them. */
  readonly sessions?: Pick<SessionStore, 'attach'> | undefined;
}

/** Adds the read-only routes. */
export function addReads(
  server: FastifyInstance,
  { desk, reads, events, admit, version, sessions }: ReadOptions,
): void {
  let document: string | undefined;
  server.get('/api/v1/openapi.json', async (request, reply) => {
    admit(request, 'viewer');
    // Loaded on demand, so that a start does not wait for it.
    const { openApi } = await import('./openapi.ts');
    document ??= JSON.stringify(openApi(version));
    return await reply.type('application/json; charset=utf-8').send(document);
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
    const { query } = (await table())['/api/v1/approvals'];
    const { state, after, limit = LIMIT_DEFAULT } = inputOf(query, request.query, 'parameter');
    const all = desk.approvals(caller).filter((one) => state === undefined || one.state === state);
    const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const items = all.slice(from, from + limit);
    return await reply.send({ items, ...(from + limit < all.length ? { next: items.at(-1)?.id } : {}) });
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- keys of that object
  for (const path of Object.keys(reads ?? {}) as ReadPath[]) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema of this path parses the query
    const read = reads?.[path] as ((query: unknown) => unknown) | undefined;
    server.get(path, async (request, reply) => {
      admit(request, 'viewer');
      const { query } = (await table())[path];
      return await reply.send(await read?.(inputOf<unknown>(query, request.query, 'parameter')));
    });
  }
  server.get('/api/v1/events', async (request, reply) => {
    const { name, via } = admit(request, 'viewer');
    const { query } = (await table())['/api/v1/events'];
    const asked = inputOf(query, request.query, 'parameter');
    const wanted = listenerOf(name, asked, request.headers['last-event-id']);
    const refusal = events.refusal(name);
    if (refusal !== undefined) throw new Refusal(refusal.status, refusal.why);
    // The stream stays open, so request timeouts do not apply to it.
    request.raw.socket.setTimeout(0);
    // No later request on this connection could be refused.
    const { cookie } = request.headers;
    if (via === 'session' && cookie !== undefined && sessions !== undefined)
      request.raw.socket.once('close', sessions.attach(cookie, request.raw.socket).gone);
    reply.hijack();
    events.add(reply.raw, wanted);
    return await reply;
  });
}

/** The routes with their schemas. Loaded on demand, so that a start does not wait for them. */
async function table(): Promise<typeof apiRoutes> {
  return (await import('./routes.ts')).apiRoutes;
}

/** A reconnecting browser sends its last position in a header, and repeats the URL of its first request. */
function listenerOf(
  name: string,
  { after, kinds }: { readonly after?: number | undefined; readonly kinds?: string | undefined },
  lastId: string | string[] | undefined,
): ListenerOptions {
  if (lastId !== undefined && (typeof lastId !== 'string' || !/^\d{1,15}$/u.test(lastId)))
    throw new Refusal(400, 'Last-Event-ID: expected the number of a record');
  return {
    name,
    after: lastId === undefined ? after : Number(lastId),
    kinds: kinds === undefined ? undefined : new Set(kinds.split(',')),
  };
}
