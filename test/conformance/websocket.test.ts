import { afterEach, describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { fieldsOf, numberOf, readJson } from './support/json.ts';
import type { Fields } from './support/json.ts';
import { aName, anInteger, anObject, exactly, expectShape } from './support/shapes.ts';
import { leversOf, pair, useVenue } from './support/target.ts';
import { anOrder, aQuote, limitOrderBody } from './support/trade.ts';

const venue = useVenue();
const open: WebSocket[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

interface Line {
  send(message: string): void;
  /** The next message of the server, unchanged. */
  next(): Promise<string>;
}

/** A connection to the server under test. */
async function connect(context: TestContext): Promise<Line> {
  const url = venue.wsUrl;
  if (url === undefined) context.skip('skipped: VENUE_WS_URL is not set');
  const socket = new WebSocket(url);
  open.push(socket);
  const heard: string[] = [];
  const waiting: ((text: string) => void)[] = [];
  socket.addEventListener('message', ({ data }: MessageEvent) => {
    const text = String(data);
    const first = waiting.shift();
    if (first === undefined) heard.push(text);
    else first(text);
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => {
      resolve();
    });
    socket.addEventListener('error', () => {
      reject(new Error(`no WebSocket at ${url}`));
    });
  });
  return {
    send(message) {
      socket.send(message);
    },
    next: async () =>
      await new Promise((resolve) => {
        const first = heard.shift();
        if (first === undefined) waiting.push(resolve);
        else resolve(first);
      }),
  };
}

const authenticate = (apiKey: string): string => JSON.stringify({ type: 'authenticate', apiKey });
const subscribe = (...feeds: readonly string[]): string => JSON.stringify({ type: 'subscribe', feeds });
const read = (text: string): Fields => fieldsOf(readJson(text));

async function answerTo(context: TestContext, ...messages: readonly string[]): Promise<Fields> {
  const line = await connect(context);
  let answer = '{}';
  for (const message of messages) {
    line.send(message);
    answer = await line.next();
  }
  return read(answer);
}

describe('authentication on the WebSocket', () => {
  it.for([
    ['type', exactly('success')],
    ['sequence', anInteger],
    ['timestamp', anInteger],
    ['payload', anObject],
    ['action', exactly('authenticate')],
  ] as const)('is answered with %s as specified', async ([field, shape], context) => {
    expectShape(await answerTo(context, authenticate(venue.token)), field, shape);
  });

  it('is answered with no field that the specification does not name', async (context) => {
    leversOf(venue, context, 'another server may tell more than the specification');
    const answer = await answerTo(context, authenticate(venue.token));
    expect(Object.keys(answer).toSorted()).toStrictEqual([
      'action',
      'payload',
      'sequence',
      'timestamp',
      'type',
    ]);
  });

  it('is answered with the sequence 1 if it is the first message', async (context) => {
    expect(numberOf((await answerTo(context, authenticate(venue.token)))['sequence'])).toBe('1');
  });

  it('is answered with a payload that contains the action', async (context) => {
    const { payload } = await answerTo(context, authenticate(venue.token));
    expectShape(fieldsOf(payload), 'action', exactly('authenticate'));
  });

  it('fails with an unknown key', async (context) => {
    const { type } = await answerTo(context, authenticate('nobody-has-this-key'));
    expect(type).not.toBe('success');
  });

  it('fails without apiKey', async (context) => {
    const { type } = await answerTo(context, '{"type":"authenticate"}');
    expect(type).not.toBe('success');
  });

  it('fails with an apiKey that is not a string', async (context) => {
    const { type } = await answerTo(context, '{"type":"authenticate","apiKey":7}');
    expect(type).not.toBe('success');
  });

  it('can be repeated after a failure', async (context) => {
    const answer = await answerTo(context, authenticate('nobody-has-this-key'), authenticate(venue.token));
    expectShape(answer, 'type', exactly('success'));
  });
});

describe('a feed of the WebSocket', () => {
  const feeds = [
    `ticker.sfox.${pair}`,
    `trades.sfox.${pair}`,
    `orderbook.sfox.${pair}`,
    'private.user.balances',
    'private.user.open-orders',
    'private.user.trades',
  ];

  it.for(feeds)('requires authentication: %s', async (feed, context) => {
    const { type } = await answerTo(context, subscribe(feed));
    expect(type).not.toBe('success');
  });

  it.for(feeds)('is available after authentication: %s', async (feed, context) => {
    leversOf(venue, context, 'names of feeds are beyond the specification');
    const answer = await answerTo(context, authenticate(venue.token), subscribe(feed));
    expectShape(answer, 'type', exactly('success'));
  });

  it('is not available after a failed authentication', async (context) => {
    const { type } = await answerTo(
      context,
      authenticate('nobody-has-this-key'),
      subscribe('private.user.balances'),
    );
    expect(type).not.toBe('success');
  });

  it.for([
    ['type', aName],
    ['sequence', anInteger],
    ['timestamp', anInteger],
    ['payload', anObject],
    ['action', aName],
  ] as const)('has %s in every message', async ([field, shape], context) => {
    leversOf(venue, context, 'names of feeds are beyond the specification');
    const line = await connect(context);
    line.send(authenticate(venue.token));
    line.send(subscribe(`ticker.sfox.${pair}`));
    for (let count = 0; count < 3; count++) expectShape(read(await line.next()), field, shape);
  });

  it('numbers the messages of a connection consecutively', async (context) => {
    leversOf(venue, context, 'names of feeds are beyond the specification');
    const line = await connect(context);
    line.send(authenticate(venue.token));
    line.send(subscribe(`ticker.sfox.${pair}`));
    const numbers = [await line.next(), await line.next(), await line.next()].map((text) =>
      numberOf(read(text)['sequence']),
    );
    expect(numbers).toStrictEqual(['1', '2', '3']);
  });

  /** A line with a confirmed subscription to the feed. */
  async function listening(context: TestContext, feed: string): Promise<Line> {
    const line = await connect(context);
    line.send(authenticate(venue.token));
    line.send(subscribe(feed));
    const answers = [await line.next(), await line.next()];
    expect(answers.map((text) => read(text)['type'])).toStrictEqual(['success', 'success']);
    return line;
  }
  /** The next message that contains `part`; the test times out if none comes. */
  async function until(line: Line, part: string): Promise<string> {
    for (;;) {
      const text = await line.next();
      if (text.includes(part)) return text;
    }
  }

  it('reports trades of the market', async (context) => {
    leversOf(venue, context, 'names of feeds are beyond the specification');
    const line = await listening(context, `trades.sfox.${pair}`);
    const { payload } = read(await line.next());
    expectShape(fieldsOf(payload), 'pair', exactly(pair));
  });

  it('reports a trade of the account when it happens', async (context) => {
    leversOf(venue, context, 'names of feeds are beyond the specification');
    const line = await listening(context, 'private.user.trades');
    const id = numberOf(fieldsOf((await anOrder(venue, await aQuote(venue))).body)['id']);
    expect(await until(line, `"order_id":${id}`)).toContain(`"currency_pair":"${pair}"`);
  });

  it('reports the balances after a trade', async (context) => {
    const own = leversOf(venue, context, 'names of feeds are beyond the specification');
    const line = await listening(context, 'private.user.balances');
    await anOrder(venue, await aQuote(venue, { quantity: '0.0123' }));
    const left = own.exchange.ledger.balance('desk', 'btc').toFixed();
    expect(await until(line, `"balance":"${left}"`)).toContain('"currency":"btc"');
  });

  it('reports an open order and its end', async (context) => {
    leversOf(venue, context, 'names of feeds are beyond the specification');
    const line = await listening(context, 'private.user.open-orders');
    const id = numberOf(fieldsOf((await venue.post('/v1/orders/buy', limitOrderBody())).body)['id']);
    expect(await until(line, `"id":${id}`)).toContain('"status":"Started"');
    await venue.delete(`/v1/orders/${id}`);
    expect(await until(line, `"id":${id}`)).toContain('"status":"Canceled"');
  });

  it('stays open after an unreadable message', async (context) => {
    leversOf(venue, context, 'what another server does with it is not shown');
    const line = await connect(context);
    line.send('{"type":');
    expect(read(await line.next())['type']).not.toBe('success');
    line.send(authenticate(venue.token));
    expectShape(read(await line.next()), 'type', exactly('success'));
  });
});
