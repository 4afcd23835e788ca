import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { aCable } from './support/cable.ts';
import { alertsOf, expectNoToken, expectWholeJournal } from './support/checks.ts';
import { aDesk, aFolder } from './support/desk.ts';
import type { FillRow } from './support/desk.ts';
import { expectSlicesOnce, twapOf, units } from './support/drill.ts';
import { SPEED, fastClock } from './support/fast.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import { ROOT } from './support/program.ts';
import type { Event } from './support/program.ts';
import { until } from './support/until.ts';
import { aVenueProcess, playFaults } from './support/venue.ts';

/** A quote must live for the order and a machine that is busy, on a clock that runs fast. */
const config = {
  venue: { order_timeout: 'PT4S' },
  in_doubt: { booking_margin: 'PT2S' },
};
const DRILL = join(ROOT, 'config/faults/fills-and-never-answers.yaml');

const attempts = (records: readonly Event[], result: string): readonly Event[] =>
  records.filter((record) => record['kind'] === 'attempt' && record['result'] === result);

const TRIES = 3;

/**
 * A life of a desk that is to buy `total`, whatever its venue does. On a clock that runs fast a machine that is busy stands still for
 * seconds, which costs slices, though never more: then it is tried again. All else must hold each time.
 */
async function expectWhole(total: string, life: () => Promise<readonly FillRow[]>): Promise<void> {
  let bought = 0n;
  for (let tries = 0; tries < TRIES && bought !== units(total); tries++)
    bought = (await life()).reduce((sum, { quantity }) => sum + units(quantity), 0n);
  expect(bought).toBe(units(total));
}

describe('a venue that fills orders and does not respond', () => {
  it('receives no second order for a filled slice in ten minutes, and the parent completes under its policy', async () => {
    await expectWhole('7.2', silentForTenMinutes);
  });

  async function silentForTenMinutes(): Promise<readonly FillRow[]> {
    const clock = fastClock(20);
    const venue = await aVenueProcess([], aFolder(), [clock]);
    const twap = twapOf({ id: 'btc', slices: 72, everyMs: 30_000 });
    const desk = aDesk({ venue, strategies: [twap], config, imports: [clock] });
    const daemon = desk.run('--json', '--until-done');
    await daemon.event('fill');
    await playFaults(venue, DRILL);
    expect(await daemon.ended(300_000)).toEqual({ code: 0, signal: null });

    const [fills, records] = [await desk.fills(), await desk.records()];
    expectSameStory(fills, await readTrades(venue));
    expectSlicesOnce(fills, records, { id: 'btc', total: '7.2', isComplete: false });
    // The silence was long, and one order fell into it: it traded, and stayed open until the account said so. A machine that is busy
    // may have lost the answers of others, for a moment.
    const spans = attempts(records, 'doubt').map(({ client_order_id: id, recorded_at: from }) => {
      const found = records.find((record) => record['kind'] === 'fill' && record['client_order_id'] === id);
      return { from: Number(from), until: Number(found?.['recorded_at'] ?? from), source: found?.['source'] };
    });
    const [longest] = spans.toSorted((a, b) => b.until - b.from - (a.until - a.from));
    const silence = { from: longest?.from ?? 0, until: longest?.until ?? 0 };
    // No order fell into the silence: this run proves nothing and does not count.
    if (silence.until - silence.from <= 500_000) return [];
    expect(longest?.source).not.toBe('order');
    const meanwhile = records.filter(
      ({ kind, recorded_at: at }) =>
        kind === 'intent' && Number(at) > silence.from && Number(at) < silence.until,
    );
    expect(meanwhile).toEqual([]);
    expect(alertsOf(desk)).toEqual(expect.arrayContaining(['doubt_open', 'account_unreadable']));
    await expectWholeJournal(desk);
    expectNoToken(desk);
    return fills;
  }
});

describe('an unreachable venue', () => {
  it('does not stop the daemon at the start or later, and everything is traded once', async () => {
    await expectWhole('1.2', awayTwice);
  });

  async function awayTwice(): Promise<readonly FillRow[]> {
    const clock = fastClock();
    const venue = await aVenueProcess([], aFolder(), [clock]);
    const cable = await aCable(Number(new URL(venue.baseUrl).port));
    await cable.pullOut();
    const desk = aDesk({
      venue: { baseUrl: `http://127.0.0.1:${cable.port}`, token: venue.token },
      strategies: [{ ...twapOf({ id: 'btc', slices: 12, everyMs: 15_000 }), catch_up: 'pace' }],
      config,
      imports: [clock],
    });
    const daemon = desk.run('--json', '--until-done');
    await until(
      () => alertsOf(desk).includes('venue_unreachable'),
      () => daemon.lastWords(),
    );
    await sleep(20_000 / SPEED);
    expect(daemon.hasEnded).toBe(false);
    // No strategy has begun: one without start_time begins when the venue responds.
    expect(daemon.eventsOf('strategy')).toEqual([]);
    await cable.plugIn();
    await daemon.event('fill', { count: 2 });
    await cable.pullOut();
    await sleep(40_000 / SPEED);
    expect(daemon.hasEnded).toBe(false);
    await cable.plugIn();
    expect(await daemon.ended(240_000)).toEqual({ code: 0, signal: null });

    const [fills, records] = [await desk.fills(), await desk.records()];
    expectSameStory(fills, await readTrades(venue));
    expectSlicesOnce(fills, records, { id: 'btc', total: '1.2', isComplete: false });
    expect(alertsOf(desk)).toContain('venue_unreachable');
    await expectWholeJournal(desk);
    expectNoToken(desk);
    return fills;
  }
});

describe('a venue to which nothing connects', () => {
  it('causes a critical alert within 60 s, fills within 30 s of its return, and a reason on each missed slice', async () => {
    const venue = await aVenueProcess([], aFolder());
    const cable = await aCable(Number(new URL(venue.baseUrl).port));
    const twap = twapOf({ id: 'btc', slices: 60, everyMs: 5_000 });
    const desk = aDesk({
      venue: {
        baseUrl: `http://127.0.0.1:${cable.port}`,
        wsUrl: `ws://127.0.0.1:${cable.port}/ws`,
        token: venue.token,
      },
      strategies: [twap],
    });
    const daemon = desk.run('--json');
    await daemon.event('fill', { count: 2 });

    await cable.pullOut();
    const diedAt = Date.now();
    const words = (): string => `${alertsOf(desk).join(', ')}\n${daemon.lastWords()}`;
    await until(() => alertsOf(desk).includes('venue_unreachable'), words, 60_000);
    expect(alertsOf(desk)).toContain('venue_unreachable');
    const before = daemon.eventsOf('fill').length;

    await cable.plugIn();
    const backAt = Date.now();
    await daemon.event('fill', { count: before + 1, withinMs: 30_000 });
    daemon.signal('SIGTERM');
    await daemon.ended();

    const missed = (await desk.records()).filter(
      ({ kind, result, recorded_at: at }) =>
        kind === 'slice' && result !== 'filled' && Number(at) > diedAt && Number(at) < backAt,
    );
    expect(missed.length).toBeGreaterThan(3);
    for (const slice of missed) expect(slice).toHaveProperty('reason', 'venue_failed');
    for (const { detail } of missed) expect(detail).toMatch(/connect/u);
    expectSameStory(await desk.fills(), await readTrades(venue));
    await expectWholeJournal(desk);
  });
});
