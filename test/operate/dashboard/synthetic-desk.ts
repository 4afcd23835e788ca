import type { ServerResponse } from 'node:http';
import { fastify } from 'fastify';
import { addPages, securityHeaders } from '../../../src/operate/pages.ts';

/** A journal record as the event stream sends it. */
export interface SyntheticRecord {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface SyntheticDesk {
  readonly url: string;
  /** Answers of the reads, by their name below `/api/v1/`, which a test may change. */
  readonly answers: Map<string, unknown>;
  /** The received commands, with their routes. */
  readonly commands: { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[];
  /** Stores records and sends them. Those in `skip` are stored but not sent, like a lost row. */
  record(body: Readonly<Record<string, unknown>>, isSent?: boolean): SyntheticRecord;
  /** Ends all streams; new ones are refused until `accept` is called. */
  drop(): void;
  accept(): void;
  close(): Promise<void>;
}

interface Named {
  readonly Params: { readonly '*': string };
}

/**
 * A desk without an engine: the test gives its answers and its records. For situations that no real desk shows on
 * demand: a thousand strategies, a row that is lost, hostile text in every field. `folder`: the dashboard as it was built.
 */
export async function startSyntheticDesk(
  folder: string,
  answers: ReadonlyMap<string, unknown>,
): Promise<SyntheticDesk> {
  const known = new Map(answers);
  const journal: SyntheticRecord[] = [];
  const streams = new Set<ServerResponse>();
  const commands: { path: string; body: Readonly<Record<string, unknown>> }[] = [];
  let refuses = false;
  const send = (response: ServerResponse, { seq, ...rest }: SyntheticRecord): void => {
    response.write(`id: ${seq}\ndata: ${JSON.stringify({ seq, ...rest })}\n\n`);
  };

  const server = fastify({ forceCloseConnections: true });
  server.addHook('onRequest', (_request, reply, done) => {
    reply.headers(securityHeaders);
    done();
  });
  addPages(server, folder);
  server.get<{ readonly Querystring: { readonly after?: string } }>('/api/v1/events', ({ query }, reply) => {
    if (refuses) return reply.code(503).send({});
    const { raw } = reply.hijack();
    raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    raw.write(': tranche\n\n');
    for (const record of journal.slice(Number(query.after ?? 0))) send(raw, record);
    streams.add(raw);
    raw.on('close', () => streams.delete(raw));
    return reply;
  });
  server.get<Named>('/api/v1/*', ({ params: { '*': name } }, reply) => {
    const last = journal.at(-1)?.seq ?? 0;
    if (name === 'chain')
      return { seq: last, hash: 'f'.repeat(64), verified_to: last, verified_at: new Date().toISOString() };
    if (name === 'records')
      return { items: journal.slice(-200).map((one) => ({ ...one, hash: 'e'.repeat(64) })) };
    return known.get(name) ?? reply.code(404).send({ error: 'nothing here' });
  });
  server.post<Named>('/api/v1/*', ({ params: { '*': path }, body }) => {
    commands.push({ path, body: body as Record<string, unknown> });
    return { done: true, says: `${path}: done` };
  });
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  const beat = setInterval(() => {
    for (const response of streams) response.write(': \n\n');
  }, 5_000);
  return {
    url,
    answers: known,
    commands,
    record(body, isSent = true) {
      const record = {
        seq: journal.length + 1,
        at: new Date().toISOString(),
        kind: String(body['kind']),
        body,
      };
      journal.push(record);
      if (isSent) for (const response of streams) send(response, record);
      return record;
    },
    drop() {
      refuses = true;
      for (const response of streams) response.destroy();
    },
    accept() {
      refuses = false;
    },
    async close() {
      clearInterval(beat);
      await server.close();
    },
  };
}
