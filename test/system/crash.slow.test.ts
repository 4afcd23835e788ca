import { describe, expect, it } from 'vitest';
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
