import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from './support/desk.ts';
import { fastClockFrom } from './support/fast.ts';
import { finish, jsonLines, start } from './support/program.ts';
import type { Event } from './support/program.ts';

/**
 * The real program on the same folder twice: `tranche run` in paper mode, with its own venue over real HTTP and WebSocket and with
 * clocks that run fast, and `tranche backtest`. The tape, the YAML and what is assumed of the venue are the same.
 *
 * What is compared, of each strategy in its order: every wake with its reason, every slice with its parent's leg, pair, side, size,
 * limit and the price that was known, how each slice ended and why, and every fill with its quantity, price and amount.
 *
 * What is not, because real time makes it differ: instants to the millisecond (they are held to each other within `APART_MS`), and
 * with them deadlines that count from a wake by a price; how often a price that did not suit was asked for again, and so whether a slice that
 * found none in its time ended with the word of its last try (`limit_price`) or of its end (`deadline`); which of the
 * slices that were asked for together is answered first; the order of records of different strategies; ids that are made from the
 * beginning of a life; and what a live desk does besides, such as reading its account. Slots lie three minutes apart, and prices become known 75 and 120 seconds after them, so that what a desk knows when it
 * decides does not hang on how quick the machine is. The portfolio has a desk of its own: on one account it would hear of the
 * trades of others that are due at the same instant in the order in which they are answered. For the same reason the other desk has more
 * cash than all its strategies can spend: `large` must meet the limit of an order, not what slices of that instant left over.
 */
const SPEED = 10;
const OPENS = Date.UTC(2026, 2, 2);
const MINUTE_MS = 60_000;
const BAR_MS = 3 * MINUTE_MS;
const [WARM_MINUTES, WINDOW_MINUTES] = [3, 24];
const BEGINS = OPENS + WARM_MINUTES * MINUTE_MS;
const ENDS = BEGINS + WINDOW_MINUTES * MINUTE_MS;
/** The minimum time between two prices: 4.5 s of real time. */
const APART_MS = 45_000;
const iso = (at: number): string => new Date(at).toISOString();

/** Bars of three minutes whose close becomes known at `second` of each: a seeded wave with steps, so that levels and bands are crossed. */
function bars(startPrice: number, second: number): string {
  const rows = ['time,open,high,low,close,volume'];
  for (let bar = -3; bar < (ENDS - OPENS) / BAR_MS + 4; bar++) {
    const wave = 0.006 * Math.sin(bar / 2.1 + second) + 0.002 * Math.sin(bar * 1.7);
    const close = (startPrice * (1 + wave)).toFixed(2);
    rows.push(`${iso(OPENS + (bar - 1) * BAR_MS + second * 1_000)},${close},${close},${close},${close},5`);
  }
  return `${rows.join('\n')}\n`;
}

const base = { pair: 'btcusd', side: 'buy', start_time: iso(BEGINS), duration: `PT${WINDOW_MINUTES}M` };
const usd = (amount: string): object => ({ amount, currency: 'usd' });
type Document = { readonly id: string } & Record<string, unknown>;
const schedules: readonly Document[] = [
  { id: 'slots', kind: 'twap', ...base, total_quantity: { amount: '1', currency: 'btc' }, slices: 8, jitter: { size_pct: 20, seed: 3 } },
  // Some of its slices find a price below the limit at once, some later, some never.
  { id: 'choosy', kind: 'twap', ...base, total_quantity: { amount: '0.6', currency: 'btc' }, slices: 8, limit_price: '59900' },
  { id: 'plan', kind: 'recurring', pair: 'ethusd', side: 'buy', each_notional: usd('700'), window: 'PT2M', schedule: { cron: '*/6 * * * *' }, start_time: iso(BEGINS), end_time: iso(ENDS) },
  // Above the order limit at any possible price: each order is refused.
  { id: 'large', kind: 'recurring', pair: 'ethusd', side: 'buy', each_quantity: { amount: '30', currency: 'eth' }, window: 'PT2M', schedule: { cron: '*/12 * * * *' }, start_time: iso(BEGINS), end_time: iso(ENDS) },
  { id: 'dip', kind: 'limit', pair: 'ethusd', side: 'buy', limit_price: '2990', total_quantity: { amount: '4', currency: 'eth' }, max_slice_quantity: { amount: '1', currency: 'eth' }, interval: 'PT50S', start_time: iso(BEGINS), good_til: iso(ENDS) },
  { id: 'own', kind: 'module', module: './own.ts', pairs: ['ethusd'], side: 'sell', total_quantity: { amount: '5', currency: 'eth' }, params: { from: BEGINS, until: ENDS, each: '0.4' } },
]; // prettier-ignore
const portfolio: readonly Document[] = [
  { id: 'band', kind: 'rebalance', target_weights: { btc: '0.4', eth: '0.3', usd: '0.3' }, drift_threshold: '0.0015', min_interval: 'PT67S', min_trade_notional: usd('20'), valuation_tolerance: '0.9', start_time: iso(BEGINS), end_time: iso(ENDS) },
]; // prettier-ignore

/** Checks every three minutes, sells after a rise, and waits for the next one. */
const KERNEL = `import { defineKernel, price, ratio, scale, text, z } from 'tranche/strategy';

const STEP_MS = 180_000;
const next = (at: number): number => (Math.floor(at / STEP_MS) + 1) * STEP_MS;

export const kernel = defineKernel({
  params: z.strictObject({ from: z.number(), until: z.number(), each: z.string() }),
  start: (params) => ({ state: { sold: 0 }, waits: [{ on: 'at', at: params.from }] }),
  step(state, wake, { until, each }, view) {
    if (view.at >= until - STEP_MS || view.left.lt(each)) return { state, finished: true, note: 'the end' };
    const now = view.price('ethusd');
    if (now === undefined) return { state, waits: [{ on: 'at', at: next(view.at) }], note: 'no price' };
    const level = text(price(scale(now, ratio('1.0015')).toFixed(2)));
    const waits = [
      { on: 'at' as const, at: next(view.at) },
      { on: 'price' as const, pair: 'ethusd', is: 'at_or_above' as const, level, notBefore: view.at },
    ];
    if (wake.on !== 'price') return { state, waits, note: 'waits for ' + level };
    const intents = [{ pair: 'ethusd', side: 'sell' as const, quantity: each }];
    return { state: { sold: state.sold + 1 }, waits, intents };
  },
});
`;

const MODEL = { half_spread_bps: 4, impact_bps: 12, max_usd: '1000000' };
const LIFE_MS = 60_000;

interface Desk {
  readonly documents: readonly Document[];
  readonly usd: string;
}
const desks: readonly Desk[] = [
  { documents: schedules, usd: '300000' },
  { documents: portfolio, usd: '120000' },
];

/** A folder with a paper config, its strategies, their prices and the venue model. */
function aFolderOfBoth({ documents, usd: cash }: Desk): string {
  const cwd = aFolder();
  mkdirSync(join(cwd, 'strategies'));
  for (const document of documents)
    writeFileSync(join(cwd, 'strategies', `${document.id}.yaml`), JSON.stringify(document));
  writeFileSync(join(cwd, 'strategies', 'own.ts'), KERNEL);
  writeFileSync(join(cwd, 'btc.csv'), bars(60_000, 75));
  writeFileSync(join(cwd, 'eth.csv'), bars(3_000, 120));
  const config = {
    desk: 'main',
    mode: 'paper',
    journal: 'sqlite:./paper.db',
    operate: false,
    strategies: './strategies',
    // With a fast clock, the machine is relatively slow.
    reference: { max_age: 'PT5M' },
    controls: { max_order_notional: usd('50000'), max_day_notional: usd('5000000') },
    venue: {
      capabilities: { balances: true, pairs: true, order_lookup: true, ticker: true, account_feed: true },
      sell_path: '/v1/orders/sell',
      order_timeout: 'PT20S',
      simulated: {
        accounts: [{ name: 'main', balances: { usd: cash, btc: '2', eth: '30' } }],
        pairs: { btcusd: MODEL, ethusd: MODEL },
        prices: { btcusd: './btc.csv', ethusd: './eth.csv' },
        market_start: iso(OPENS),
        quote_life_ms: LIFE_MS,
        limits: { enforced: false },
      },
    },
  };
  writeFileSync(join(cwd, 'desk.yaml'), JSON.stringify(config));
  writeFileSync(join(cwd, 'model.yaml'), JSON.stringify({ base: 'tight', ...MODEL, quote_life_ms: LIFE_MS }));
  return cwd;
}

interface Deed {
  readonly at: number;
  readonly what: string;
}

/** What each strategy did, by its id. */
type Deeds = ReadonlyMap<string, readonly Deed[]>;

async function deeds(cwd: string, journal: string): Promise<Deeds> {
  const { code, stdout, stderr } = await finish(['journal', 'show', '--json', journal], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const found = new Map<string, Deed[]>();
  for (const { at, body } of jsonLines(stdout) as readonly { at: number; body: Event }[]) {
    for (const what of linesOf(body)) {
      const id = String(body['strategy']);
      found.set(id, [...(found.get(id) ?? []), { at, what }]);
    }
  }
  return found;
}

function linesOf(body: Event): readonly string[] {
  const told = (...names: readonly string[]): string =>
    names.map((name) => `${name} ${String(body[name])}`).join(' ');
  switch (body['kind']) {
    case 'wake': {
      const intents = body['intents'] as readonly Event[];
      const slices = intents.map(({ leg, slice, pair, side, by, size, limit, decision_price: known }) =>
        ['slice', leg, slice, side, size, by, pair, limit ?? 'any', known].map(String).join(' '),
      );
      const missed = body['missed'] as readonly Event[];
      return [
        `wake ${told('on', 'reason', 'finished')}`,
        ...slices,
        ...missed.map(({ leg, slice, size }) => `missed ${String(leg)} ${String(slice)} ${String(size)}`),
      ];
    }
    case 'slice':
      return [
        `end ${told('leg', 'slice', 'result', 'reason', 'filled', 'filled_amount')}`.replace(LATE, NO_PRICE),
      ];
    case 'fill':
      return [`fill ${told('slice', 'pair', 'side', 'quantity', 'price', 'amount', 'fee')}`];
    default:
      return [];
  }
}

const [LATE, NO_PRICE] = ['expired reason deadline', 'expired reason limit_price'];

/** In order, but for what comes of slices that were asked for together. */
function whatOf(all: readonly Deed[] = []): readonly string[] {
  const blocks: string[][] = [[]];
  for (const { what } of all) {
    if (what.startsWith('slice ')) blocks.push([]);
    blocks.at(-1)?.push(what);
  }
  return blocks.flatMap(([first, ...rest]) => (first === undefined ? [] : [first, ...rest.toSorted()]));
}

/** The longest pause of the process according to its log: it checks its clocks every second. */
function longestStall(cwd: string): number {
  const lines = readFileSync(join(cwd, 'paper.db.log'), 'utf8').split('\n').slice(0, -1);
  const late = lines.map((line) => Number((JSON.parse(line) as Event)['late_ms'] ?? 0));
  return Math.max(0, ...late);
}

/** Up to three tries: a run proves nothing if the machine paused for longer than from a slot to the next price. */
async function bothWays(desk: Desk): Promise<readonly Deeds[]> {
  for (let tries = 1; ; tries++) {
    const cwd = aFolderOfBoth(desk);
    const found = await ranBothWays(cwd);
    if (tries === 3 || longestStall(cwd) < APART_MS / 2) return found;
  }
}

/** The results of the strategies in paper mode and in a backtest. */
async function ranBothWays(cwd: string): Promise<readonly Deeds[]> {
  const imports = [fastClockFrom(OPENS, SPEED)];
  const paper = start(['run', '--until-done', '--config', 'desk.yaml'], { cwd, imports });
  const tapes = ['--data', 'btcusd=btc.csv', '--data', 'ethusd=eth.csv'];
  const window = ['--from', iso(OPENS), '--until', iso(ENDS + 5 * MINUTE_MS)];
  const backtest = ['backtest', '--config', 'desk.yaml', ...tapes, ...window, '--model', 'model.yaml'];
  expect(await finish([...backtest, '--journal', 'backtest.db'], { cwd })).toMatchObject({ code: 0 });
  expect(await paper.ended((2 * (ENDS - OPENS)) / SPEED + 60_000)).toEqual({ code: 0, signal: null });
  return [await deeds(cwd, 'paper.db'), await deeds(cwd, 'backtest.db')];
}

describe('a paper run and a backtest', () => {
  it('produce the same slices, sizes, reasons and fills from the same YAML and prices', async () => {
    const runs = await Promise.all(desks.map(bothWays));
    const [live, tested] = [0, 1].map((way) => new Map(runs.flatMap((run) => [...(run[way] ?? [])])));
    const documents = desks.flatMap((desk) => desk.documents.map(({ id }) => id));
    const allOf = (desk: Deeds = new Map()): readonly object[] =>
      documents.map((id) => ({ id, did: whatOf(desk.get(id)) }));
    expect(allOf(live)).toEqual(allOf(tested));
    for (const id of documents) {
      const apart = (live?.get(id) ?? []).map(({ at }, i) => Math.abs(at - (tested?.get(id)?.[i]?.at ?? 0)));
      // A strategy begins when the desk is ready.
      expect(Math.max(...apart.slice(1))).toBeLessThan(APART_MS);
    }
    // Every kind of event happened; otherwise the comparison would prove nothing.
    const all = documents.flatMap((id) => whatOf(tested?.get(id)));
    for (const what of [/wake on drift/u, /wake on price/u, /order_size/u, /limit_price/u])
      expect(all.some((line) => what.test(line))).toBe(true);
    const traded = documents.filter((id) => whatOf(tested?.get(id)).some((line) => line.startsWith('fill')));
    expect(traded).toEqual(documents.filter((id) => id !== 'large'));
  });
});
