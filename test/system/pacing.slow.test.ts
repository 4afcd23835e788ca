import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/app/daemon/clock.ts';
import { startVenue } from '../../src/simulator/venue.ts';
import { expectNoToken } from './support/checks.ts';
import { aDesk } from './support/desk.ts';
import { leastSpanMs } from './support/pacing.ts';
import { until } from './support/until.ts';

const QUOTES_PER_SECOND = 10;
/** How long is measured; for more: `PACING_MINUTES=10 npx vitest run --project slow test/system/pacing`. */
const MINUTES = Number(process.env['PACING_MINUTES'] ?? 2);
const TOKEN = 'canary-pacing-0c7d51f2';

/** Strategies that always want a quote: their limit price is out of reach, and they ask again at once. */
const hungry = (count: number): readonly Readonly<Record<string, unknown>>[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `hungry-${i}`,
    kind: 'twap',
    pair: i % 2 === 0 ? 'btcusd' : 'ethusd',
    side: 'buy',
    total_quantity: { amount: '1', currency: i % 2 === 0 ? 'btc' : 'eth' },
    duration: 'PT1H',
    slices: 1,
    limit_price: '1000',
  }));

interface Measured {
  /** The arrival time of each quote request at the server, ms. */
  readonly arrivals: readonly number[];
  readonly answers429: number;
  /** Strategies that got a quote. */
  readonly served: number;
}

/** Runs the real daemon against a venue of this process for `ms`, counted from its first quote request. */
async function measure(strategies: number, ms: number): Promise<Measured> {
  const arrivals: number[] = [];
  const venue = await startVenue(
    {
      accounts: [{ name: 'desk', token: TOKEN, balances: { usd: '100000000' } }],
      pairs: { btcusd: { startPrice: '60000' }, ethusd: { startPrice: '3000' } },
    },
    {
      clock: systemClock,
      onRequest({ at, route }) {
        if (route === '/v1/quote') arrivals.push(at);
      },
    },
  );
  onTestFinished(async () => {
    await venue.close();
  });
  const desk = aDesk({
    venue: { baseUrl: venue.baseUrl, wsUrl: venue.wsUrl, token: TOKEN },
    strategies: hungry(strategies),
    config: {
      // These strategies never trade: with the footprint limit of a real desk they would soon send fewer requests than the venue allows.
      footprint: { max_quotes_per_fill: 100_000 },
      log: { level: 'warn' },
    },
  });
  const daemon = desk.run('--json');
  const { operate_url: operateUrl } = await daemon.event('ready');
  await until(
    () => arrivals.length > 0,
    () => 'a first quote request',
  );
  await sleep(ms);
  const metrics = await (await fetch(`${String(operateUrl)}/metrics`)).text();
  const refused = [...metrics.matchAll(/^tranche_quotes_total\{.*result="rate_limited".*\} (\d+)$/gmu)];
  daemon.signal('SIGTERM');
  expect(await daemon.ended()).toEqual({ code: 0, signal: null });
  expectNoToken(desk, [metrics]);
  const intents = daemon.eventsOf('intent').map(({ strategy }) => strategy);
  return {
    arrivals,
    answers429: refused.reduce((sum, [, count]) => sum + Number(count), 0),
    served: new Set(intents).size,
  };
}

/**
 * Part of the budget that was used after `warmUpMs`. Requests come in bursts of ten, so whole tens are counted against the
 * time from the first of them to the one that follows the last: no burst at an edge flatters the figure.
 */
function utilisation(arrivals: readonly number[], warmUpMs: number): number {
  const first = arrivals.findIndex((at) => at >= (arrivals[0] ?? 0) + warmUpMs);
  const tens = Math.floor((arrivals.length - 1 - first) / QUOTES_PER_SECOND);
  const seconds = ((arrivals[first + tens * QUOTES_PER_SECOND] ?? 0) - (arrivals[first] ?? 0)) / 1000;
  return tens / seconds;
}

function report(name: string, { arrivals, answers429 }: Measured, used: number): void {
  const span = leastSpanMs(arrivals, QUOTES_PER_SECOND + 1);
  process.stdout.write(
    `${name}: ${arrivals.length} quote requests, least time of 11 in a row ${span.toFixed(3)} ms, utilisation ${(used * 100).toFixed(2)} %, answers 429: ${answers429}\n`,
  );
}

describe('the pacing of a real daemon', () => {
  it('sends at most ten quote requests in any second for minutes, and uses at least 97 % of this limit', async () => {
    const measured = await measure(20, MINUTES * 60_000);
    const used = utilisation(measured.arrivals, 2_000);
    report(`${MINUTES} min`, measured, used);
    expect(leastSpanMs(measured.arrivals, QUOTES_PER_SECOND + 1)).toBeGreaterThanOrEqual(1_000);
    expect(measured.answers429).toBe(0);
    expect(measured.served).toBe(20);
    expect(used).toBeGreaterThanOrEqual(0.97);
  });
});
