import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';

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

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

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

  const stream = (url: URL, response: ServerResponse): void => {
    if (refuses) {
      response.writeHead(503).end('{}');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(': tranche\n\n');
    for (const record of journal.slice(Number(url.searchParams.get('after') ?? 0))) send(response, record);
    streams.add(response);
    response.on('close', () => streams.delete(response));
  };
  const read = (url: URL, response: ServerResponse): void => {
    const name = url.pathname.slice('/api/v1/'.length);
    if (name === 'events') {
      stream(url, response);
      return;
    }
    const last = journal.at(-1)?.seq ?? 0;
    const answer =
      name === 'chain'
        ? { seq: last, hash: 'f'.repeat(64), verified_to: last, verified_at: new Date().toISOString() }
        : name === 'records'
          ? { items: journal.slice(-200).map((one) => ({ ...one, hash: 'e'.repeat(64) })) }
          : known.get(name);
    json(response, answer === undefined ? 404 : 200, answer ?? { error: 'nothing here' });
  };
  const command = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const piece of request) text += String(piece);
    commands.push({ path, body: JSON.parse(text) as Record<string, unknown> });
    json(response, 200, { done: true, says: `${path}: done` });
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://desk');
    if (url.pathname.startsWith('/api/v1/')) {
      if (request.method === 'POST') void command(url.pathname.slice(8), request, response);
      else read(url, response);
      return;
    }
    const file =
      url.pathname === '/' || url.pathname === '/sign-in' ? '/index.html' : normalize(url.pathname);
    try {
      const bytes = readFileSync(join(folder, file));
      response
        .writeHead(200, {
          'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
          'content-security-policy': POLICY,
        })
        .end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const beat = setInterval(() => {
    for (const response of streams) response.write(': \n\n');
  }, 5_000);
  return {
    url: `http://127.0.0.1:${port}`,
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
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
