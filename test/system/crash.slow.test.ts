import { describe, expect, it } from 'vitest';
import { aCable } from './support/cable.ts';
import { expectNoToken, expectWholeJournal } from './support/checks.ts';
import { aDesk } from './support/desk.ts';
import { expectSlicesOnce, twapOf, watched } from './support/drill.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-crash-e81a55d7';
/** A proof of absence comes sooner than by default: drills need not wait for a slow venue. */
const inDoubt = { booking_margin: 'PT2S' };

describe('a daemon that is killed', () => {
  it('trades no slice twice and loses no fill after several kills with open orders', async () => {
    const seen = watched();
    const venue = await aServedVenue(TOKEN, { orderLatencyMs: 400 }, seen.hooks);
    const desk = aDesk({
      venue,
      // Long enough for four starts, each of which may wait ten seconds for its turn to read the account.
      strategies: [twapOf({ id: 'btc', slices: 40, everyMs: 2_000 })],
      config: { in_doubt: inDoubt },
    });
    for (const orders of [2, 4, 6]) {
      const daemon = desk.run('--json');
      // In the tick in which the order arrives: the venue fills it, and the daemon receives no response.
      await seen.orders(orders);
      await daemon.kill();
    }
    const last = desk.run('--json', '--until-done');
    // On a busy machine, a daemon may be killed before its quote is recorded: then the proof waits for the longest quote life.
    expect(await last.ended(420_000)).toEqual({ code: 0, signal: null });

    const [fills, records] = [await desk.fills(), await desk.records()];
    expectSameStory(fills, await readTrades(venue));
    expectSlicesOnce(fills, records, { id: 'btc', total: '4.0', isComplete: false });
    expect(records.filter(({ kind }) => kind === 'started')).toHaveLength(4);
    // Fills of killed daemons were found in the account and not traded again.
    expect(records.some(({ kind, source }) => kind === 'fill' && source !== 'order')).toBe(true);
    expect(records.filter(({ kind }) => kind === 'control')).toEqual([]);
    await expectWholeJournal(desk);
    expectNoToken(desk);
  });

  it('proves that an order lost in transit did not trade, then trades the slice', async () => {
    const seen = watched((order) => (order === 2 ? { delayMs: 500, destroy: 'before' } : undefined));
    const venue = await aServedVenue(TOKEN, {}, seen.hooks);
    const desk = aDesk({
      venue,
      strategies: [{ ...twapOf({ id: 'btc', slices: 3, everyMs: 1_000 }), catch_up: 'extend' }],
      config: { in_doubt: inDoubt },
    });
    const daemon = desk.run('--json');
    await seen.orders(2);
    await daemon.kill();
    expect(await desk.run('--json', '--until-done').ended(240_000)).toEqual({ code: 0, signal: null });

    const [fills, records] = [await desk.fills(), await desk.records()];
    const results = records.filter(({ kind }) => kind === 'attempt').map(({ result }) => result);
    expect(results).toContain('doubt');
    expect(results).toContain('absent');
    expectSameStory(fills, await readTrades(venue));
    expectSlicesOnce(fills, records, { id: 'btc', total: '0.3', isComplete: false });
    await expectWholeJournal(desk);
    expectNoToken(desk);
  });
});

describe('a daemon that loses its connection to the venue', () => {
  it('retries, finds the fill of its open order once the venue is back, and continues to trade', async () => {
    const seen = watched();
    const venue = await aServedVenue(TOKEN, { orderLatencyMs: 600 }, seen.hooks);
    const cable = await aCable(Number(new URL(venue.baseUrl).port));
    const desk = aDesk({
      venue: {
        baseUrl: `http://127.0.0.1:${cable.port}`,
        wsUrl: `ws://127.0.0.1:${cable.port}/ws`,
        token: TOKEN,
      },
      strategies: [twapOf({ id: 'btc', slices: 20, everyMs: 2_000 })],
      config: { in_doubt: inDoubt },
    });
    const daemon = desk.run('--until-done');
    await seen.orders(3);
    await cable.pullOut();
    await daemon.said('the outcome of an order is unknown');
    await daemon.said(/the account could not be read; retrying|could not be looked up|ticker feed is down/u);
    expect(daemon.hasEnded).toBe(false);
    await cable.plugIn();
    expect(await daemon.ended(240_000)).toEqual({ code: 0, signal: null });

    const [fills, records] = [await desk.fills(), await desk.records()];
    expectSameStory(fills, await readTrades(venue));
    expectSlicesOnce(fills, records, { id: 'btc', total: '2.0', isComplete: false });
    expect(fills.map(({ slice }) => slice)).toEqual(expect.arrayContaining(['0', '1', '2']));
    expect(fills.length).toBeGreaterThan(5);
    expect(
      records.filter(({ kind, result }) => kind === 'attempt' && result === 'doubt').length,
    ).toBeGreaterThan(0);
    await expectWholeJournal(desk);
    expectNoToken(desk);
  });
});
