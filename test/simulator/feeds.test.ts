import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { aVenue } from './client.ts';

interface Message {
  readonly type?: string;
  readonly sequence: number;
  readonly recipient?: string;
  readonly action?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A socket that hands out what comes in, in order. */
async function listen(url: string) {
  const socket = new WebSocket(url);
  const arrived: string[] = [];
  const waiting: ((text: string) => void)[] = [];
  socket.on('message', (data: Buffer) => {
    const text = data.toString('utf8');
    const next = waiting.shift();
    if (next === undefined) arrived.push(text);
    else next(text);
  });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const nextText = async (): Promise<string> => {
    const text = arrived.shift();
    return text ?? (await new Promise<string>((resolve) => waiting.push(resolve)));
  };
  return {
    say: (message: object | string) => {
      socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    },
    nextText,
    next: async (): Promise<Message> => JSON.parse(await nextText()) as Message,
    closed: new Promise<number>((resolve) => socket.once('close', resolve)),
    [Symbol.dispose]: () => {
      socket.terminate();
    },
  };
}

const FEED = 'ticker.sfox.btcusd';

describe('the feeds of the simulated venue', () => {
  it('give a ticker at once and then at every interval to whoever is authenticated', async () => {
    await using venue = await aVenue({ tickerIntervalMs: 20 });
    using line = await listen(venue.wsUrl);
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    expect(await line.next()).toMatchObject({
      type: 'success',
      sequence: 1,
      action: 'authenticate',
      payload: { action: 'authenticate' },
    });
    line.say({ type: 'subscribe', feeds: [FEED] });
    expect(await line.next()).toMatchObject({
      type: 'success',
      sequence: 2,
      payload: { action: 'subscribe', feeds: [FEED] },
    });
    const first = await line.nextText();
    expect(first).toMatch(/"timestamp":\d{19},/u);
    expect(JSON.parse(first)).toMatchObject({
      sequence: 3,
      recipient: FEED,
      payload: { pair: 'btcusd', last: 60_000, volume: 0 },
    });
    expect(JSON.parse(first)).not.toHaveProperty('type');
    expect(await line.next()).toMatchObject({ sequence: 4, recipient: FEED });
  });

  it('count what the venue trades', async () => {
    await using venue = await aVenue({ tickerIntervalMs: 20 });
    const quoted = await venue.post('/v1/quote', '{"pair":"btcusd","side":"buy","quantity":0.25}');
    const { quote_id: id } = quoted.body as { quote_id: string };
    await venue.post('/v1/orders/buy', `{"currency_pair":"btcusd","quote_id":"${id}","quantity":0.25}`);
    using line = await listen(venue.wsUrl);
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    line.say({ type: 'subscribe', feeds: [FEED] });
    await line.next();
    await line.next();
    expect((await line.next()).payload).toMatchObject({ volume: 0.25, amount: 15_000, vwap: 60_000 });
  });

  it('refuse strangers, unknown feeds and what is not a request, and stay open', async () => {
    await using venue = await aVenue();
    using line = await listen(venue.wsUrl);
    line.say({ type: 'subscribe', feeds: [FEED] });
    expect(await line.next()).toMatchObject({ type: 'error', action: 'subscribe', payload: { feeds: [] } });
    line.say({ type: 'authenticate', apiKey: 'wrong' });
    expect(await line.next()).toMatchObject({ type: 'error', action: 'authenticate' });
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    expect(await line.next()).toMatchObject({ type: 'success' });
    line.say({ type: 'subscribe', feeds: ['ticker.sfox.nope'] });
    expect(await line.next()).toMatchObject({ type: 'error' });
    line.say('{');
    expect(await line.next()).toMatchObject({ type: 'error', sequence: 5 });
  });

  it('end with an unsubscription', async () => {
    await using venue = await aVenue({ tickerIntervalMs: 3_600_000 });
    using line = await listen(venue.wsUrl);
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    line.say({ type: 'subscribe', feeds: [FEED, 'ticker.sfox.ethusd'] });
    line.say({ type: 'unsubscribe', feeds: [FEED] });
    const heard = [];
    for (let index = 0; index < 5; index++) heard.push(await line.next());
    expect(heard.at(-1)).toMatchObject({
      type: 'success',
      action: 'unsubscribe',
      payload: { feeds: ['ticker.sfox.ethusd'] },
    });
  });

  it('cut off a frame that is too large, and close with the venue', async () => {
    const venue = await aVenue();
    using large = await listen(venue.wsUrl);
    large.say('x'.repeat(70_000));
    expect(await large.closed).toBe(1009);
    using line = await listen(venue.wsUrl);
    await venue.close();
    expect(await line.closed).toBe(1006);
  });

  it('are off where only the specification holds', async () => {
    await using venue = await aVenue({ specOnly: true });
    await expect(listen(venue.wsUrl)).rejects.toThrow('Unexpected server response');
  });
});
