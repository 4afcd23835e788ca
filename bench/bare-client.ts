import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { asyncScheduler } from 'rxjs';
import { stayAwake } from '../src/venue/stay-awake.ts';

const AGENT = 'host: venue\r\nauthorization: Bearer bench\r\ncontent-type: application/json';
const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\n${AGENT}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** Sends a request and returns the whole text of its answer. */
async function exchange(socket: Socket, request: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = '';
  const take = (chunk: Buffer): void => {
    text += chunk.toString('latin1');
    const head = text.indexOf('\r\n\r\n');
    const length = Number(/\r\ncontent-length: (?<length>\d+)/u.exec(text)?.groups?.['length'] ?? Infinity);
    if (head < 0 || text.length < head + 4 + length) return;
    socket.off('data', take);
    resolve(text);
  };
  socket.on('data', take);
  socket.write(request);
  return await promise;
}

export interface BareOptions {
  /** Called between a quote and its order. */
  readonly beforeOrder?: (cycle: number) => Promise<unknown>;
  /** Time between two cycles, ms: processors that wait longer start more slowly. */
  readonly intervalMs?: number;
}

/**
 * Runs the minimum that any client needs: on the last byte of a quote, it sends the order on a second socket that is already open.
 * Without checks, records or limits, it measures the floor of the machine and of the venue; it is not a way to trade.
 */
export async function bareCycles(
  port: number,
  cycles: number,
  name: string,
  { beforeOrder, intervalMs = 0 }: BareOptions = {},
): Promise<void> {
  const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')] as const;
  const [quotes, orders] = sockets;
  for (const socket of sockets) {
    socket.setNoDelay(true);
    await once(socket, 'connect');
  }
  for (let i = 0; i < cycles; i++) {
    const id = `${name}-${i}`;
    const wanted = `{"pair":"btcusd","side":"buy","quantity":0.01,"client_quote_id":"${id}"}`;
    // As Tranche does; see `src/venue/stay-awake.ts`.
    const awake = stayAwake(asyncScheduler).subscribe();
    const quote = await exchange(quotes, post('/v1/quote', wanted));
    awake.unsubscribe();
    const quoteId = /"quote_id":"(?<id>[^"]+)"/u.exec(quote)?.groups?.['id'] ?? '';
    if (beforeOrder !== undefined) await beforeOrder(i);
    const order = `{"currency_pair":"btcusd","quote_id":"${quoteId}","quantity":0.01,"client_order_id":"${id}"}`;
    const answer = await exchange(orders, post('/v1/orders/buy', order));
    if (!answer.includes('"Done"')) throw new Error(`not filled: ${answer} for the quote: ${quote}`);
    if (intervalMs > 0) await sleep(intervalMs);
  }
  for (const socket of sockets) socket.destroy();
}
