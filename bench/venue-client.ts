import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** One keep-alive connection with at most one request in flight. It parses no more of an answer than necessary. */
export class Wire {
  private readonly socket: Socket;
  private readonly head: string;
  private text = '';
  private waiting: ((answer: string) => void) | undefined;

  private constructor(socket: Socket, token: string) {
    this.socket = socket;
    this.head = `HTTP/1.1\r\nhost: venue\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: `;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      this.take(chunk);
    });
  }

  static async open(port: number, token: string): Promise<Wire> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Wire(socket, token);
  }

  /** Sends a request and returns the body of the answer. */
  async post(path: string, body: string): Promise<string> {
    return await new Promise((resolve) => {
      this.waiting = resolve;
      this.socket.write(`POST ${path} ${this.head}${body.length}\r\n\r\n${body}`);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private take(chunk: string): void {
    this.text += chunk;
    const end = this.text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const at = this.text.indexOf('ontent-length: ') + 'ontent-length: '.length;
    const length = Number.parseInt(this.text.slice(at, at + 8), 10);
    if (this.text.length < end + 4 + length) return;
    const answer = this.text.slice(end + 4);
    this.text = '';
    this.waiting?.(answer);
  }
}

export const quoteRequest = (id: string): string =>
  `{"pair":"btcusd","side":"buy","quantity":0.01,"client_quote_id":"${id}"}`;

/** Returns the order that executes a quote. */
export function orderRequest(quote: string, id: string): string {
  const quoteId = /"quote_id":"(?<id>[^"]+)"/u.exec(quote)?.groups?.['id'] ?? '';
  return `{"currency_pair":"btcusd","quote_id":"${quoteId}","quantity":0.01,"client_order_id":"${id}"}`;
}
