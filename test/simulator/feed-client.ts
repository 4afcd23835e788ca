import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';
import type { VenueUnderTest } from './client.ts';

export interface Message {
  readonly type?: string;
  readonly sequence: number;
  readonly timestamp: number;
  readonly recipient?: string;
  readonly action?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface FeedClient extends Disposable {
  readonly socket: WebSocket;
  say(message: object | string): void;
  nextText(): Promise<string>;
  next(): Promise<Message>;
  /** The next message of this feed; others are passed over. */
  nextOf(feed: string): Promise<Message>;
  /** What is there already and was not taken. */
  waiting(): number;
  readonly closed: Promise<number>;
}

/** A socket that hands out what comes in, in order. */
export async function listen(url: string, options: ClientOptions = {}): Promise<FeedClient> {
  const socket = new WebSocket(url, options);
  const arrived: string[] = [];
  const waiting: ((text: string) => void)[] = [];
  socket.on('message', (data: Buffer) => {
    const text = data.toString('utf8');
    const taker = waiting.shift();
    if (taker === undefined) arrived.push(text);
    else taker(text);
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const nextText = async (): Promise<string> => {
    const text = arrived.shift();
    return text ?? (await new Promise<string>((resolve) => waiting.push(resolve)));
  };
  const next = async (): Promise<Message> => JSON.parse(await nextText()) as Message;
  return {
    socket,
    say(message) {
      socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    },
    nextText,
    next,
    async nextOf(feed) {
      for (;;) {
        const message = await next();
        if (message.recipient === feed) return message;
      }
    },
    waiting: () => arrived.length,
    closed,
    [Symbol.dispose]() {
      socket.terminate();
    },
  };
}

/** A client that is authenticated and has these feeds; both answers are taken. */
export async function subscribed(venue: VenueUnderTest, ...feeds: readonly string[]): Promise<FeedClient> {
  const line = await listen(venue.wsUrl);
  line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
  await line.next();
  line.say({ type: 'subscribe', feeds });
  await line.next();
  return line;
}

/** Quotes and at once executes, over HTTP. */
export async function buy(venue: VenueUnderTest, quantity: string, clientId?: string): Promise<void> {
  const quoteId = clientId === undefined ? '' : `,"client_quote_id":"${clientId}"`;
  const orderId = clientId === undefined ? '' : `,"client_order_id":"${clientId}"`;
  const quoted = await venue.post(
    '/v1/quote',
    `{"pair":"btcusd","side":"buy","quantity":${quantity}${quoteId}}`,
  );
  const { quote_id: id } = quoted.body as { quote_id: string };
  const done = await venue.post(
    '/v1/orders/buy',
    `{"currency_pair":"btcusd","quote_id":"${id}","quantity":${quantity}${orderId}}`,
  );
  if (done.status !== 201) throw new Error(`the order was refused: ${done.text}`);
}
