import { price, ratio } from '../../src/core/money.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { uniform } from '../../src/core/uniform.ts';
import { aPolicy, aStrategy, aTwap, flat, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

/** Buys 4 btc at 50 000 usd with 40 000 usd of its own: 160 000 on credit, equity a quarter of them. */
export const buyer = aTwap('buyer', {
  total_quantity: { amount: '4', currency: 'btc' },
  start_time: '2026-01-05T00:01:00Z',
  duration: 'PT1M',
  slices: 1,
});
export const guard = aStrategy('min-headroom', 'settle', {
  pairs: ['btcusd'],
  min_headroom: 0.05,
  interval: 'PT5S',
});
export const guarded = { ...aPolicy().pts, use: 'when_enabled', headroomMin: ratio('0.05') } as const;
export const onCredit = { ...aPolicy().pts, use: 'when_enabled' } as const;
export const leveraged = {
  accounts: [{ name: 'main', balances: { usd: '40000' } }],
  pairs: { btcusd: { ...flat('50000'), maxUsd: '1000000' } },
  pts: { modes: { btcusd: 'Enabled' as const } },
};

/** A clock that nobody watches saves most of the time of a path. */
const calm = {
  reference: { ...aPolicy().reference, intervalMs: 25_000 },
  continuity: { ...aPolicy().continuity, everyMs: Number.POSITIVE_INFINITY },
};
const pins = { btcusd: '50000' };

/** A desk with 4 btc on credit, two minutes after its start. */
export const leveragedDesk = (options: Partial<BenchOptions> = {}): Bench =>
  started(
    { strategies: [buyer], venue: leveraged, policy: { pts: onCredit, ...calm }, pins, ...options },
    2 * MINUTE_MS,
  );
export const guardedDesk = (options: Partial<BenchOptions> = {}): Bench =>
  leveragedDesk({ strategies: [buyer, guard], policy: { pts: guarded, ...calm }, ...options });

/** Moves the price of btc, and runs the desk until its next look at it. */
export function move(desk: Bench, to: number, ms = MINUTE_MS): void {
  desk.exchange.pin('btcusd', price(to.toFixed(2)), desk.clock.wall());
  desk.run(ms);
}

export interface PathTally {
  /** Paths in which the venue settled positions. */
  settled: number;
  /** Of these, those in which one step of the price took the account from above the buffer to below the level. */
  jumped: number;
}

/** Whether the venue settled a position, by its rows. */
export const settlements = ({ exchange, account }: Bench): number =>
  exchange.ledger.rows(account).filter(({ description = '' }) => description.startsWith('settlement of'))
    .length;

/** Equity divided by exposure, as the venue sees it. */
export function levelOf({ exchange, account, clock }: Bench): number {
  const metrics = exchange.metrics(account, clock.wall());
  if (!metrics.ok || metrics.value.exposure.isZero()) return Number.POSITIVE_INFINITY;
  return metrics.value.equity.div(metrics.value.exposure).toNumber();
}

/**
 * A random path of the price, one step a minute, of a desk on credit. Steps are up to 3 %, mostly downwards; one in thirty is up to
 * 15 %.
 */
export function path(
  seed: number,
  isGuarded: boolean,
  steps = 12,
): { isSettled: boolean; hasJumped: boolean } {
  const bench = isGuarded ? guardedDesk({ seed: String(seed) }) : leveragedDesk({ seed: String(seed) });
  let at = 50_000;
  for (let step = 0; step < steps; step++) {
    const before = levelOf(bench);
    const size = uniform(seed, 3 * step) < 0.03 ? 0.15 : 0.03;
    at *= 1 + size * (uniform(seed, 3 * step + 1) * 2 - 1.15);
    bench.exchange.pin('btcusd', price(at.toFixed(2)), bench.clock.wall());
    const hasJumped = before >= 0.15 - 1e-6 && levelOf(bench) < 0.1;
    bench.run(MINUTE_MS);
    if (settlements(bench) > 0) return { isSettled: true, hasJumped };
  }
  return { isSettled: false, hasJumped: false };
}

/** Runs paths of these seeds. */
export function paths(count: number, isGuarded: boolean): PathTally {
  const tally: PathTally = { settled: 0, jumped: 0 };
  for (let seed = 1; seed <= count; seed++) {
    const { isSettled, hasJumped } = path(seed, isGuarded);
    if (isSettled) tally.settled += 1;
    if (isSettled && hasJumped) tally.jumped += 1;
  }
  return tally;
}
