import { describe, expect, it } from 'vitest';
import { Faults } from '../../src/simulator/faults/fault-plan.ts';
import type { FaultPlanInput } from '../../src/simulator/faults/faults.ts';
import { monotonic } from '../../src/core/time.ts';
import { aVenue } from './client.ts';
import type { VenueUnderTest } from './client.ts';
import { listen, subscribed } from './feed-client.ts';

const FEED = 'ticker.sfox.btcusd';
type Rule = NonNullable<FaultPlanInput['feeds']>[number];

/** A venue that sends a message every 20 ms; the second one has a fault. */
async function faulty(fault: Rule['fault'], rule: Partial<Rule> = {}): Promise<VenueUnderTest> {
  const faults = new Faults(
    { feeds: [{ name: 'drill', on: FEED, skip: 1, times: 1, fault, ...rule }] },
    monotonic(performance.now()),
  );
  return await aVenue({ tickerIntervalMs: 20 }, { feedFaults: faults });
}

/** Sequence numbers of the next `count` messages. */
async function sequences(venue: VenueUnderTest, count: number): Promise<number[]> {
  using line = await subscribed(venue, FEED);
  const numbers = [];
  for (let left = count; left > 0; left--) numbers.push((await line.next()).sequence);
  return numbers;
}

describe('a feed fault', () => {
  it.each([
    ['gap', { kind: 'gap', messages: 2 }, [3, 6, 7]],
    ['reorder', { kind: 'reorder', by: 1 }, [3, 5, 4, 6]],
    ['reorder by two', { kind: 'reorder', by: 2 }, [3, 5, 6, 4, 7]],
    ['duplicate', { kind: 'duplicate' }, [3, 4, 4, 5]],
    ['delay', { kind: 'delay', ms: 5_000 }, [3, 5, 6]],
  ] as const)('shows a %s in the sequence numbers', async (_, fault, expected) => {
    await using venue = await faulty(fault);
    expect(await sequences(venue, expected.length)).toStrictEqual(expected);
  });

  it('replaces a message with the configured text', async () => {
    await using venue = await faulty({ kind: 'garble', text: '{"seq' });
    using line = await subscribed(venue, FEED);
    await line.next();
    expect(await line.nextText()).toBe('{"seq');
    expect(await line.next()).toMatchObject({ sequence: 5 });
  });

  it('drops the connection', async () => {
    await using venue = await faulty({ kind: 'drop' });
    using line = await subscribed(venue, FEED);
    expect(await line.closed).toBe(1006);
  });

  it('holds back messages and pongs for its time, then continues with the current sequence number', async () => {
    await using venue = await faulty({ kind: 'stall', ms: 1_500 });
    using line = await subscribed(venue, FEED);
    await line.next();
    let pongs = 0;
    line.socket.on('pong', () => (pongs += 1));
    await new Promise((resolve) => setTimeout(resolve, 60));
    line.socket.ping();
    const { sequence } = await line.next();
    expect(pongs).toBe(0);
    expect(sequence).toBeGreaterThan(6);
  });

  it('refuses one authentication with a valid key', async () => {
    await using venue = await faulty({ kind: 'refuse_authentication' }, { on: 'authenticate', skip: 0 });
    using line = await listen(venue.wsUrl);
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    expect(await line.next()).toMatchObject({ type: 'error', payload: { action: 'authenticate' } });
    line.say({ type: 'subscribe', feeds: [FEED] });
    expect(await line.next()).toMatchObject({ type: 'error' });
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    expect(await line.next()).toMatchObject({ type: 'success' });
  });

  it('applies also to the answer to a subscription', async () => {
    await using venue = await faulty({ kind: 'drop' }, { on: 'subscribe', skip: 0 });
    using line = await listen(venue.wsUrl);
    line.say({ type: 'authenticate', apiKey: venue.tokens[0] });
    expect(await line.next()).toMatchObject({ type: 'success' });
    line.say({ type: 'subscribe', feeds: [FEED] });
    expect(await line.closed).toBe(1006);
  });
});
