import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Asked {
  readonly method?: string;
  /** Empty ones are omitted. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A text as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The answer as JSON; an empty object if it is none. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** One request on a connection of its own. `fetch` does not let a caller choose the Host header. */
export async function ask(url: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answer> {
  const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
  return await new Promise((resolve, reject) => {
    const exchange = request(url, { method, headers: sent, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headers: answered } = response;
        const isJson = answered['content-type']?.includes('json') === true && text !== '';
        resolve({
          status,
          headers: answered,
          text,
          body: isJson ? (JSON.parse(text) as Answer['body']) : {},
        });
      });
    });
    exchange.on('error', reject);
    exchange.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body));
  });
}

/** Sends a command to the API as the owner of a token. */
export const postAs = async (url: string, token: string, body: unknown): Promise<Answer> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-tranche': '1' };
  return await ask(url, { method: 'POST', headers, body });
};

/** A connection on which a request was written, and whose answer nobody has to read. It ends with the test. */
export function rawRequest(url: string, path: string, token: string): Socket {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`);
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}
