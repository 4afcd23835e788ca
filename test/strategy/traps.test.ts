import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { aBench, aPolicy, aStrategy, aTwap, START } from '../engine/harness.ts';
import type { Bench, BenchOptions } from '../engine/harness.ts';
import { faultsOf, ledgerTrades } from '../engine/oracle.ts';

/**
 * Four traps of other engines, and requests and complaints of users of other systems. Each has a test with its name, here
 * or next to the code that it concerns. A new kind of strategy needs a test for each of the four traps.
 */
const NAMED: Readonly<Record<string, string>> = {
  'trap 1': 'one failed slice erases the rest of the plan',
  'trap 2': 'a minimum in one currency is compared with a size in the other',
  'trap 3': 'a slice below the minimum causes the whole to be sent at once',
  'trap 4': 'the number of slices, or the time of the first or the last, is off by one',
  'complaint 13': 'pause and automatic resume, not only stop',
  'complaint 14': 'sizes and times vary, so that others cannot predict them',
  'complaint 15': 'near the minimum it refuses to start without a reason',
  'complaint 16': 'one budget of requests for all, and a back-off after a ban',
  'complaint 17': 'target weights that are held',
  'complaint 18': 'the log says that it rebalances, and nothing happens',
  'complaint 19': 'an edited minimum is ignored, and wrong names and old keys are reported late',
  'complaint 20': 'trading hours and blackout dates',
};

const TESTS = join(import.meta.dirname, '..');
const TITLE = /(?:\bit|\]\))\(\s*\n?\s*['"`](?<name>(?:trap|complaint) [^'"`]*)/gu;

/** Titles of tests that contain one of the names, with their files. */
function titles(): readonly { readonly file: string; readonly title: string }[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      [...readFileSync(join(TESTS, file), 'utf8').matchAll(TITLE)].map(({ groups }) => ({
        file,
        title: groups?.['name'] ?? '',
      })),
    );
}

describe('the list of traps and complaints', () => {
  const found = titles();
  const namesIn = (title: string): readonly string[] =>
    [...(title.split(':')[0]?.matchAll(/(?:trap|complaint) \d+/gu) ?? [])].map(([name]) => name);

  it.each(Object.entries(NAMED))('contains a test for %s (%s)', (name) => {
    expect(found.filter(({ title }) => namesIn(title).includes(name))).not.toEqual([]);
  });

  it('has tests for the four traps in every kind that divides a total into slices', () => {
    const filesOf = (name: string): readonly string[] =>
      found.filter(({ title }) => namesIn(title).includes(name)).map(({ file }) => file);
    for (const name of ['trap 1', 'trap 2', 'trap 3', 'trap 4'])
      expect(filesOf(name)).toEqual(
        expect.arrayContaining(['strategy/twap.test.ts', 'strategy/sliced.ts', 'strategy/recurring.test.ts']),
      );
  });

  it('contains every trap and complaint that a test names', () => {
    expect(found.flatMap(({ title }) => namesIn(title)).filter((name) => !(name in NAMED))).toEqual([]);
  });
});

const wakesOf = (bench: Bench) => bench.records().flatMap(({ body }) => (body.kind === 'wake' ? [body] : []));
const flat = (startPrice: string) => ({ startPrice, volatilityPctYear: 0, halfSpreadBps: 0, impactBps: 0 });
/** Half btc, half cash, with 600 usd too much in btc. */
const venue = {
  accounts: [{ balances: { usd: '49400', btc: '1.012' } }],
  pairs: { btcusd: flat('50000') },
};
const held = (minimum: string): NonNullable<BenchOptions['strategies']> => [
  aStrategy('r', 'rebalance', {
    target_weights: { btc: '0.5', usd: '0.5' },
    drift_threshold: '0.001',
    min_trade_notional: { amount: minimum, currency: 'usd' },
    schedule: { cron: '0 * * * *' },
  }),
];
const calm = { accountPollMs: 10 * MINUTE_MS };

describe('requests and complaints of users of other systems', () => {
  it('complaint 16: strategies share one quote budget in turn, and none requests a quote during a ban', () => {
    const asked: { readonly at: number; readonly pair: string }[] = [];
    const [banned, free] = [START + 90 * SECOND_MS, START + 100 * SECOND_MS];
    const strategies = Array.from({ length: 14 }, (_, n) =>
      aTwap(`t${n}`, { total_quantity: { amount: '0.14', currency: 'btc' }, slices: 4, duration: 'PT4M' }),
    );
    const bench = aBench({
      strategies,
      wrap: (port, clock) => ({
        ...port,
        quote: (request) => {
          asked.push({ at: clock.wall(), pair: request.pair });
          const retryAfterMs = free - clock.wall();
          return clock.wall() >= banned && clock.wall() < free
            ? of({ kind: 'error', status: 429, error: 'too many requests', retryAfterMs } as const)
            : port.quote(request);
        },
      }),
    });
    bench.start();
    bench.clock.run(instant(START + 89 * SECOND_MS));
    // A request in this time is told to wait: at most one is sent until the end of the ban.
    bench.clock.run(instant(START + 20 * MINUTE_MS));
    const inSecond = asked.map(
      ({ at }) => asked.filter((other) => other.at >= at && other.at < at + SECOND_MS).length,
    );
    expect(Math.max(...inSecond)).toBeLessThanOrEqual(10);
    expect(asked.filter(({ at }) => at >= banned && at < free).length).toBeLessThanOrEqual(1);
    const slots = wakesOf(bench).filter(({ intents }) => intents.length > 0);
    expect(new Set(slots.map(({ strategy }) => strategy)).size).toBe(14);
    expect(faultsOf(bench).filter((fault) => fault !== 'not done')).toEqual([]);
    expect(ledgerTrades(bench.exchange).length).toBeGreaterThan(14 * 3);
  });

  it('complaint 18: a rebalancing below its own minimum or that of the venue reports its figures', () => {
    const ours = aBench({ strategies: held('1000'), venue, policy: calm });
    ours.start();
    ours.clock.run(instant(START + HOUR_MS + MINUTE_MS));
    expect(wakesOf(ours).at(-1)).toMatchObject({
      reason: 'below_min_trade',
      note: 'btc 0.600 %, usd -0.600 %',
      intents: [],
    });
    const theirs = aBench({
      strategies: held('10'),
      venue,
      policy: { ...calm, minimumOf: () => ({ notional: aPolicy().limits.orderNotionalMax }) },
    });
    theirs.start();
    theirs.clock.run(instant(START + HOUR_MS + MINUTE_MS));
    const ends = theirs.records().flatMap(({ body }) => (body.kind === 'slice' ? [body] : []));
    expect(ends).toMatchObject([
      {
        result: 'skipped',
        reason: 'below_minimum',
        detail: expect.stringContaining('600.00 usd of at least 1000000') as string,
      },
    ]);
  });

  it('complaint 19: an edited minimum applies from the next start', () => {
    const before = aBench({ strategies: held('1000'), venue, policy: calm });
    before.start();
    before.clock.run(instant(START + HOUR_MS + MINUTE_MS));
    expect(ledgerTrades(before.exchange)).toEqual([]);
    before.kill();
    const { clock, exchange, journal } = before;
    const after = aBench({ strategies: held('100'), venue, policy: calm, clock, exchange, journal });
    after.start();
    clock.run(instant(START + 2 * HOUR_MS + MINUTE_MS));
    expect(ledgerTrades(exchange)).toMatchObject([{ pair: 'btcusd', side: 'sell' }]);
    const documents = after
      .records()
      .flatMap(({ body }) => (body.kind === 'strategy' ? [body.document] : []));
    expect(documents).toMatchObject([
      { min_trade_notional: { amount: '1000', currency: 'usd' } },
      { min_trade_notional: { amount: '100', currency: 'usd' } },
    ]);
  });
});
