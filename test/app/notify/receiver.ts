import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Post {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly posts: readonly Post[];
  /** Status of the next answers. */
  answer: { status: number; headers?: Readonly<Record<string, string>> };
  close(): void;
}

/** A web server on loopback that keeps all posted requests. */
export async function receiver(port = 0): Promise<Receiver> {
  const posts: Post[] = [];
  const made: Receiver = { url: '', posts, answer: { status: 200 }, close };
  const server = createServer((request, reply) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      posts.push({ path: request.url ?? '', headers: request.headers, body });
      reply.writeHead(made.answer.status, made.answer.headers).end();
    });
  });
  function close(): void {
    server.close();
    server.closeAllConnections();
  }
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(close);
  return Object.assign(made, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
