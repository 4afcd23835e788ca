import { gunzipSync } from 'node:zlib';
import { HOUR_MS } from '../../src/core/time.ts';

/**
 * A portfolio of five assets that is looked at every hour for as long as there are bars: by the whole engine on virtual time
 * against the simulated exchange, and by a plain calculation of its own that shares no code with it.
 */

export const ASSETS = ['btc', 'eth', 'ltc', 'sol', 'xrp'] as const;
type Asset = (typeof ASSETS)[number];
/** The text of a bar file of each asset: `timestamp_ms,open,high,low,close,volume`, an hour a bar. */
export type Bars = Readonly<Record<Asset, string>>;

/** In hundredths of a percent. The rest is cash. */
const WEIGHTS = { btc: 3000n, eth: 2500n, ltc: 1000n, sol: 1000n, xrp: 1000n } as const;
const CASH_WEIGHT = 1500n;
/** As the venue has them. */
const DECIMALS = { btc: 8, eth: 8, ltc: 8, sol: 8, xrp: 6 } as const;
const BEGUN_WITH = 1_000_000n;
const TRADE_MIN = 1n;

export interface Setting {
  readonly driftType: 'absolute' | 'relative';
  readonly rebalanceTo: 'target' | 'band_edge';
  /** In hundredths of a percent. */
  readonly threshold: bigint;
}
export const settings: readonly Setting[] = [
  { driftType: 'absolute', rebalanceTo: 'target', threshold: 300n },
  { driftType: 'absolute', rebalanceTo: 'band_edge', threshold: 300n },
  { driftType: 'relative', rebalanceTo: 'target', threshold: 2000n },
  { driftType: 'relative', rebalanceTo: 'band_edge', threshold: 2000n },
];

/** A trade: the full hour since 1970 in which it was made, what, and how much. */
export interface Trade {
  readonly hour: number;
  readonly side: string;
  readonly asset: Asset;
  /** Plain decimal. */
  readonly quantity: string;
  /** Cents paid or received. */
  readonly cents: bigint;
}

/** The first hour at which every asset has a price, and the last. */
export function hoursOf(bars: Bars): { readonly first: number; readonly last: number } {
  const times = ASSETS.map((asset) => rowsOf(bars[asset]).map(({ start }) => start / HOUR_MS + 1));
  return {
    first: Math.max(...times.map((each) => each[0] ?? 0)),
    last: Math.min(...times.map((each) => each.at(-1) ?? 0)),
  };
}

const rowsOf = (csv: string): readonly { readonly start: number; readonly close: string }[] =>
  csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [start, , , , close] = line.split(',');
      return { start: Number(start), close: close ?? '' };
    });

export const unzipped = (bytes: Buffer): string => gunzipSync(bytes).toString('utf8');

// From here on all arithmetic uses integers, and no code of the engine.

/** Prices and quantities count in 1e-8, cents in 1e-2, values in 1e-16 usd. */
const UNIT = 10n ** 8n;
const CENT = 10n ** 14n;
const FULL = 10_000n;

function whole(decimal: string): bigint {
  const [before = '0', after = ''] = decimal.split('.');
  return BigInt(before + after.slice(0, 8).padEnd(8, '0'));
}

function plainText(amount: bigint): string {
  const digits = String(amount).padStart(9, '0');
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/u, '');
}

const abs = (amount: bigint): bigint => (amount < 0n ? -amount : amount);

/** What is held, and how far each currency is from its target beyond its band, in 1e-16 usd: above zero is outside. */
export interface Held {
  readonly cents: bigint;
  readonly assets: Readonly<Record<Asset, bigint>>;
}

type Prices = Readonly<Record<Asset, bigint>>;

/** The close that is known at each full hour: the last one, where bars are missing. */
export function* hours(bars: Bars): Generator<{ readonly hour: number; readonly prices: Prices }> {
  const { first, last } = hoursOf(bars);
  const closes = ASSETS.map(
    (asset) => new Map(rowsOf(bars[asset]).map(({ start, close }) => [start / HOUR_MS + 1, whole(close)])),
  );
  const known = ASSETS.map((_, n) => {
    let at = first;
    while (closes[n]?.get(at) === undefined) at--;
    return closes[n].get(at) ?? 0n;
  });
  for (let hour = first; hour <= last; hour++) {
    for (const [n] of ASSETS.entries()) known[n] = closes[n]?.get(hour) ?? known[n] ?? 0n;
    yield { hour, prices: Object.fromEntries(ASSETS.map((asset, n) => [asset, known[n]])) as Prices };
  }
}

export const nothing: Held = {
  cents: BEGUN_WITH * 100n,
  assets: { btc: 0n, eth: 0n, ltc: 0n, sol: 0n, xrp: 0n },
};

export const worthOf = ({ cents, assets }: Held, prices: Prices): bigint =>
  ASSETS.reduce((sum, asset) => sum + assets[asset] * prices[asset], cents * CENT);

/** Half the width of a band, as a share of `FULL` squared. */
const bandOf = ({ driftType, threshold }: Setting, weight: bigint): bigint =>
  driftType === 'absolute' ? threshold * FULL : threshold * weight;

/** By how much each currency lies outside its band, in 1e-16 usd; zero or less is inside. */
export function outside(held: Held, prices: Prices, setting: Setting): readonly bigint[] {
  const value = worthOf(held, prices);
  const all = [
    ...ASSETS.map((asset) => [held.assets[asset] * prices[asset], WEIGHTS[asset]] as const),
    [held.cents * CENT, CASH_WEIGHT] as const,
  ];
  return all.map(([worth, weight]) => {
    const away = abs(worth * FULL * FULL - weight * FULL * value) - bandOf(setting, weight) * value;
    return away > 0n ? away / (FULL * FULL) + 1n : away / (FULL * FULL);
  });
}

/** The holdings after a trade. */
export function booked(held: Held, { side, asset, quantity: traded, cents }: Trade): Held {
  const sign = side === 'buy' ? 1n : -1n;
  return {
    cents: held.cents - sign * cents,
    assets: { ...held.assets, [asset]: held.assets[asset] + sign * whole(traded) },
  };
}

/** The trades as they follow from the bars, hour by hour. */
export function plainTrades(bars: Bars, setting: Setting): readonly Trade[] {
  let held = nothing;
  const trades: Trade[] = [];
  for (const { hour, prices } of hours(bars)) {
    if (outside(held, prices, setting).every((away) => away <= 0n)) continue;
    const wanted = wantedOf(held, prices, setting);
    for (const trade of wanted.flatMap((one) => tradeOf(one, hour, prices))) {
      trades.push(trade);
      held = booked(held, trade);
    }
  }
  return trades;
}

interface Wanted {
  readonly asset: Asset;
  /** By how much it should grow: `part / parts`, in 1e-16 usd. */
  readonly part: bigint;
  readonly parts: bigint;
}

/** The wanted change of each asset. All worths here count in 1e-16 usd, times `FULL` squared. */
function wantedOf(
  held: Held,
  prices: Prices,
  { driftType, rebalanceTo, threshold }: Setting,
): readonly Wanted[] {
  const setting = { driftType, rebalanceTo, threshold };
  const value = worthOf(held, prices);
  const goalOf = (worth: bigint, weight: bigint): bigint => {
    const target = weight * FULL * value;
    const band = bandOf(setting, weight) * value;
    if (rebalanceTo === 'target') return target;
    if (abs(worth - target) <= band) return worth;
    return worth > target ? target + band : target - band;
  };
  const all = ASSETS.map((asset) => {
    const worth = held.assets[asset] * prices[asset] * FULL * FULL;
    const target = WEIGHTS[asset] * FULL * value;
    const goal = goalOf(worth, WEIGHTS[asset]);
    return { asset, worth, goal, above: goal - target };
  });
  const cash = all.reduce((rest, { goal }) => rest - goal, value * FULL * FULL);
  const cashTarget = CASH_WEIGHT * FULL * value;
  const isOut = abs(cash - cashTarget) > bandOf(setting, CASH_WEIGHT) * value;
  const missing = isOut ? goalOf(cash, CASH_WEIGHT) - cash : 0n;
  const givers = all.filter(({ above }) => (missing > 0n ? above > 0n : above < 0n));
  const together = abs(givers.reduce((sum, { above }) => sum + above, 0n));
  return all.map(({ asset, worth, goal, above }) => {
    const gives = isOut && givers.some((one) => one.asset === asset) ? abs(missing) * above : 0n;
    const parts = together === 0n ? 1n : together;
    return { asset, part: (goal - worth) * parts - gives, parts: parts * FULL * FULL };
  });
}

/** One trade, or none when it is too small. Money is rounded to the cent against us. */
function tradeOf({ asset, part, parts }: Wanted, hour: number, prices: Prices): readonly Trade[] {
  const grain = 10n ** BigInt(8 - DECIMALS[asset]);
  const units = (abs(part) / (parts * prices[asset] * grain)) * grain;
  if (units === 0n || abs(part) < TRADE_MIN * UNIT * UNIT * parts) return [];
  const exact = units * prices[asset];
  const side = part > 0n ? 'buy' : 'sell';
  const cents = exact / CENT + (side === 'buy' && exact % CENT > 0n ? 1n : 0n);
  return [{ hour, side, asset, quantity: plainText(units), cents }];
}

/** One hour in which something was traded. */
export interface Look {
  readonly hour: number;
  /** Before and after its trades, at the prices of the hour. */
  readonly before: readonly bigint[];
  readonly after: readonly bigint[];
}

/** How the portfolio stood in each hour that traded, and in which hours it should have traded and did not. */
export function looksOf(
  bars: Bars,
  setting: Setting,
  trades: readonly Trade[],
): { readonly looks: readonly Look[]; readonly idle: readonly number[] } {
  const byHour = Map.groupBy(trades, ({ hour }) => hour);
  const looks: Look[] = [];
  const idle: number[] = [];
  let held = nothing;
  for (const { hour, prices } of hours(bars)) {
    const before = outside(held, prices, setting);
    const due = byHour.get(hour);
    if (due === undefined && before.some((away) => away > SLACK)) idle.push(hour);
    if (due === undefined) continue;
    for (const trade of due) held = booked(held, trade);
    looks.push({ hour, before, after: outside(held, prices, setting) });
  }
  return { looks, idle };
}

/** What `min_trade_notional` and rounding may leave of every one of the trades of an hour, in 1e-16 usd. */
export const SLACK = BigInt(ASSETS.length) * (TRADE_MIN * UNIT * UNIT + 2n * CENT);

/** Sells first, then by name: what happens within an hour has no other order to compare by. */
export const inOrder = (trades: readonly Trade[]): readonly string[] =>
  trades
    .map(({ hour, side, asset, quantity: size, cents }) => `${hour} ${side} ${size} ${asset} ${cents}`)
    .toSorted();

export const turnoverOf = (trades: readonly Trade[]): bigint =>
  trades.reduce((sum, { cents }) => sum + cents, 0n);
