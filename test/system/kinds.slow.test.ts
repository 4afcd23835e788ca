import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { add, money, quantity, subtract, text } from '../../src/core/money.ts';
import { strategies as registry } from '../../src/strategy/registry.ts';
import { openIntents } from './support/checks.ts';
import { aDesk, aFolder } from './support/desk.ts';
import type { DeskFolder } from './support/desk.ts';
import { expectSameStory, readTrades, tradesOf } from './support/ledger.ts';
import type { Program } from './support/program.ts';
import { aVenueProcess } from './support/venue.ts';

const PATIENCE_MS = 120_000;

type Document = Readonly<Record<string, unknown>>;
type Trades = ReturnType<typeof tradesOf>;

/** One desk: its strategies, and the check of the venue's ledger afterwards. */
interface Run {
  readonly balances?: Readonly<Record<string, string>>;
  readonly documents: readonly Document[];
  /** Files beside the documents. */
  readonly files?: Readonly<Record<string, string>>;
  /** Whether it needs the ticker. */
  readonly isFed?: boolean;
  /** The desk is stopped after this number of fills; if undefined, it ends by itself. */
  readonly fills?: number;
  /** Describes what is wrong with the trades; empty if nothing is. */
  judge(trades: Trades): string;
}

const sliced = {
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: '0.3', currency: 'btc' },
  duration: 'PT32S',
  slices: 4,
};
const bare = (amount: string): string => amount.replace(/^-/u, '');
const totalOf = (trades: Trades, what: 'base' | 'quote', side?: string): string =>
  text(
    trades
      .filter((trade) => side === undefined || trade.side === side)
      .reduce((sum, trade) => add(sum, quantity(bare(trade[what]))), quantity('0')),
  );
const isTotal = (wanted: string, least: number) => (trades: Trades) => {
  const total = totalOf(trades, 'base');
  return total === wanted && trades.length >= least ? '' : `${trades.length} trades of ${total} in all`;
};

const KERNEL = `import { defineKernel, later, z } from 'tranche/strategy';

export const kernel = defineKernel({
  params: z.strictObject({ each: z.string() }),
  start: (_params, view) => ({ state: {}, waits: [{ on: 'at', at: later(view.at, 'PT1S') }] }),
  step(state, _wake, { each }, view) {
    if (view.left.lt(each)) return { state, finished: true };
    const waits = [{ on: 'at', at: later(view.at, 'PT1S') }];
    if (view.open > 0) return { state, waits };
    return { state, waits, intents: [{ pair: 'btcusd', side: 'buy', notional: each }] };
  },
});
`;

/** A run for every kind of strategy. */
const runs: Readonly<Record<string, Run>> = {
  twap: { documents: [sliced], judge: isTotal('0.3', 4) },
  vwap: {
    documents: [{ ...sliced, profile: { weights: Array.from({ length: 24 }, (_, hour) => 1 + (hour % 3)) } }],
    judge: isTotal('0.3', 4),
  },
  shortfall: {
    documents: [
      {
        ...sliced,
        risk_aversion: 30,
        volatility: '0.8',
        impact: { bps: 1, per_hour: { amount: '10', currency: 'btc' } },
      },
    ],
    judge: isTotal('0.3', 4),
  },
  pov: {
    isFed: true,
    documents: [
      {
        pair: 'btcusd',
        side: 'buy',
        total_quantity: { amount: '0.3', currency: 'btc' },
        // The market trades about 1 btc a second.
        share: '0.02',
        interval: 'PT4S',
        duration: 'PT1H',
      },
    ],
    fills: 3,
    judge: (trades) =>
      trades.every(({ base, side }) => side === 'buy' && Number(base) > 0.01 && Number(base) < 0.25)
        ? ''
        : JSON.stringify(trades),
  },
  recurring: {
    documents: [
      {
        pair: 'btcusd',
        side: 'buy',
        each_quantity: { amount: '0.05', currency: 'btc' },
        schedule: { cron: '*/4 * * * * *' },
        window: 'PT3S',
      },
    ],
    fills: 3,
    judge: (trades) =>
      trades.length >= 2 && trades.every(({ base, side }) => base === '0.05' && side === 'buy')
        ? ''
        : JSON.stringify(trades),
  },
  rebalance: {
    balances: { usd: '200000', btc: '20', eth: '200' },
    documents: [
      {
        target_weights: { btc: '0.5', eth: '0.4', usd: '0.1' },
        drift_threshold: '0.01',
        min_trade_notional: { amount: '100', currency: 'usd' },
        min_interval: 'PT2S',
        leg_timeout: 'PT15S',
        duration: 'PT30S',
      },
    ],
    // 2 000 000 usd: btc from 60 % to 50 %, eth from 30 % to 40 %.
    judge: (trades) => {
      const [sold, bought] = [totalOf(trades, 'quote', 'sell'), totalOf(trades, 'quote', 'buy')].map(Number);
      const isRight = [sold, bought].every((amount) => Math.abs((amount ?? 0) - 200_000) < 20_000);
      return isRight && trades[0] !== undefined ? '' : `sold ${sold}, bought ${bought}`;
    },
  },
  limit: {
    documents: [
      {
        pair: 'btcusd',
        side: 'buy',
        total_quantity: { amount: '0.3', currency: 'btc' },
        limit_price: '66000',
        max_slice_quantity: { amount: '0.1', currency: 'btc' },
        interval: 'PT2S',
      },
    ],
    judge: (trades) =>
      trades.every(({ price }) => Number(price) <= 66_000)
        ? isTotal('0.3', 3)(trades)
        : JSON.stringify(trades),
  },
  sweep: {
    balances: { usd: '1000', btc: '20.5' },
    documents: [
      {
        from: 'btc',
        to: 'usd',
        keep: { amount: '20', currency: 'btc' },
        max_slice_notional: { amount: '20000', currency: 'usd' },
        interval: 'PT2S',
      },
    ],
    fills: 2,
    judge: (trades) =>
      totalOf(trades, 'base', 'buy') === '0' ? isTotal('0.5', 2)(trades) : JSON.stringify(trades),
  },
  settle: {
    balances: { usd: '20000' },
    documents: [
      {
        id: 'buyer',
        kind: 'limit',
        pair: 'btcusd',
        side: 'buy',
        total_quantity: { amount: '0.5', currency: 'btc' },
        limit_price: '66000',
      },
      { pairs: ['btcusd'], before_grace_ends: 'PT50S' },
    ],
    fills: 1,
    // Purchases beyond the balance were borrowed and repaid to the cent.
    judge: (trades) => {
      const borrowed = subtract(money(totalOf(trades, 'quote', 'buy')), money('20000'));
      const paid = totalOf(trades, 'quote', 'sell');
      return borrowed.gt(0) && text(borrowed) === paid ? '' : `borrowed ${text(borrowed)}, paid back ${paid}`;
    },
  },
  module: {
    documents: [
      {
        module: './kernel.js',
        pairs: ['btcusd'],
        side: 'buy',
        total_notional: { amount: '1500', currency: 'usd' },
        params: { each: '500' },
        max_intents_per_minute: 20,
      },
    ],
    files: { 'kernel.js': KERNEL },
    judge: (trades) =>
      totalOf(trades, 'quote') === '1500' && trades.length === 3 ? '' : JSON.stringify(trades),
  },
};

/** An id has hyphens where a kind has underscores. */
const idOf = (kind: string): string => kind.replaceAll('_', '-');
const tokenOf = (kind: string): string => `canary-kind-${kind}-77af10c2`;

/** `tranche venue` with an account for every kind. This test does not cover its rate limits. */
async function aVenueForAll(): Promise<Served> {
  const folder = aFolder();
  const accounts = Object.entries(runs).map(([kind, { balances }]) => ({
    name: kind,
    token: tokenOf(kind),
    balances: balances ?? { usd: '100000' },
  }));
  const options = {
    accounts,
    pairs: {
      btcusd: { start_price: '60000', volatility_pct_year: 20, volume_per_day: '86400' },
      ethusd: { start_price: '3000', volatility_pct_year: 20 },
    },
    limits: { enforced: false },
    pts: {
      modes: { btcusd: 'Enabled' },
      rates: { usd: { annual_rate: '0.08', grace_minutes: 1, frequency_minutes: 60 } },
    },
  };
  writeFileSync(join(folder, 'venue.yaml'), JSON.stringify(options));
  return await aVenueProcess(['--config', 'venue.yaml'], folder);
}

type Served = Pick<Awaited<ReturnType<typeof aVenueProcess>>, 'baseUrl' | 'wsUrl'>;

interface Begun {
  readonly kind: string;
  readonly run: Run;
  readonly desk: DeskFolder;
  readonly daemon: Program;
}

function begin(kind: string, run: Run, { baseUrl, wsUrl }: Served): Begun {
  const desk = aDesk({
    venue: { baseUrl, token: tokenOf(kind), ...(run.isFed === true ? { wsUrl } : {}) },
    strategies: run.documents.map((document) => ({ id: idOf(kind), kind, ...document })),
    config: { pts: { use: 'when_enabled' } },
  });
  for (const [name, source] of Object.entries(run.files ?? {}))
    writeFileSync(join(desk.folder, 'strategies', name), source);
  return {
    kind,
    run,
    desk,
    daemon: desk.run('--json', ...(run.fills === undefined ? ['--until-done'] : [])),
  };
}

/** Waits until the strategy `id` has `wanted` fills. */
async function ownFills(daemon: Program, id: string, wanted: number): Promise<void> {
  let own = 0;
  for (let count = 1; own < wanted; count++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as they come
    const fill = await daemon.event('fill', { count, withinMs: PATIENCE_MS });
    if (fill['strategy'] === id) own++;
  }
}

/** Waits for the end of the run and compares journal and ledger; returns `ok` or what is wrong. */
async function judged(
  { kind, run, desk, daemon }: Begun,
  baseUrl: string,
): Promise<readonly [string, string]> {
  try {
    if (run.fills !== undefined) {
      await ownFills(daemon, idOf(kind), run.fills);
      daemon.signal('SIGTERM');
    }
    expect(await daemon.ended(PATIENCE_MS)).toEqual({ code: 0, signal: null });
    const rows = await readTrades({ baseUrl, token: tokenOf(kind) });
    expectSameStory(await desk.fills(), rows);
    expect(openIntents(await desk.records())).toEqual([]);
    const wrong = run.judge(tradesOf(rows));
    return [kind, wrong === '' ? 'ok' : wrong];
  } catch (error) {
    return [kind, `${String(error)}\n${daemon.lastWords()}`];
  }
}

describe('a desk against `tranche venue`', () => {
  it('is tested with every kind of strategy', () => {
    expect(Object.keys(runs).toSorted()).toEqual([...registry.keys()].toSorted());
  });

  it('trades as the document of each kind states, according to the ledger of the venue', async () => {
    const venue = await aVenueForAll();
    const begun = Object.entries(runs).map(([kind, run]) => begin(kind, run, venue));
    const told = await Promise.all(begun.map(async (one) => await judged(one, venue.baseUrl)));
    expect(Object.fromEntries(told)).toEqual(
      Object.fromEntries(Object.keys(runs).map((kind) => [kind, 'ok'])),
    );
  });
});
