import type { StrategySource } from '../../../src/engine/desk.ts';
import { aStrategy } from '../../engine/harness.ts';
import type { Chance } from '../chance.ts';
import { EPOCH, between } from './draws.ts';
import type { Cap } from './witness.ts';

/** Draws by name alone, for sizes that need not shrink. */
type Draw = (point: string) => number;

export const PRICES = { btcusd: 60_000, ethusd: 3_000 } as const;

export interface Planned {
  readonly source: StrategySource;
  readonly cap: Cap | undefined;
  readonly notional: number;
  readonly lengthMs: number;
  /** The limit of one order that its trades are cut for; left out: as large as that of every desk. */
  readonly orderNotionalMax?: string;
}

/** Plain when its setting is 0, so that a plan shrinks to what is plain. */
export const chancesOf =
  (given: Chance) =>
  (point: string, share: number): boolean =>
    given.setting(point, 0, 99) >= 100 - 100 * share;

/** What simulation B trades. */
export function plansOf(given: Chance): readonly Planned[] {
  const chance = chancesOf(given);
  if (chance('two strategies', 0.25)) return [twap(given, 'a'), twap(given, 'b')];
  return [chance('rebalance', 0.08) ? rebalance(drawOf(given)) : twap(given, 'a')];
}

/** What simulation C trades: strategies of more kinds, more often two at a time. */
export function mixedPlansOf(given: Chance): readonly Planned[] {
  const chance = chancesOf(given);
  const one = (id: string): Planned => {
    const drawn = given.draw(`kind of ${id}`, 0);
    if (!chance(`${id} of another kind`, 0.45)) return twap(given, id);
    if (drawn < 0.4) return atLimit(given, id);
    if (drawn < 0.75) return recurring(given, id);
    return given.draw(`share of ${id}`, 0) < 0.5 ? pov(given, id) : sweep(given, id);
  };
  if (chance('two strategies', 0.4)) return [one('a'), one('b')];
  return [chance('rebalance', 0.06) ? largeRebalance(drawOf(given)) : one('a')];
}

const drawOf =
  (given: Chance): Draw =>
  (point) =>
    given.draw(point, 0);

function twap(given: Chance, id: string): Planned {
  const of = (what: string): number => given.draw(`strategy ${id} ${what}`, 0);
  const chance = (what: string, share: number): boolean => chancesOf(given)(`${id} ${what}`, share);
  // Two strategies trade different pairs as often as not: a doubt holds its own pair back, and must count for the other.
  const pair = of('pair') < (id === 'a' ? 0.8 : 0.4) ? 'btcusd' : 'ethusd';
  const side = of('side') < 0.7 ? 'buy' : 'sell';
  const slices = 1 + given.setting(`${id} slices`, 0, 3);
  const minutes = 1 + given.setting(`${id} minutes`, 0, 2);
  const dollars = Math.round(between(of('size'), 500, 60_000, 3)) * slices;
  const isByAmount = chance('by amount', 0.35);
  const quantity = (dollars / PRICES[pair]).toFixed(6);
  const size = isByAmount ? String(dollars) : quantity;
  const slack = side === 'buy' ? 1.01 : 0.99;
  const limit = chance('limit', 0.3) ? (PRICES[pair] * slack).toFixed(2) : undefined;
  const catchUp =
    ['pace', 'pace', 'extend', 'skip', 'abort'][given.setting(`${id} catch up`, 0, 4)] ?? 'pace';
  const isJittered = chance('jitter', 0.2);
  const source = aStrategy(id, 'twap', {
    pair,
    side,
    ...(isByAmount
      ? { total_notional: { amount: size, currency: 'usd' } }
      : { total_quantity: { amount: size, currency: pair.slice(0, 3) } }),
    duration: `PT${minutes}M`,
    slices,
    catch_up: catchUp,
    ...(limit === undefined ? {} : { limit_price: limit }),
    ...(isJittered ? { jitter: { time_pct: 40, size_pct: 20, seed: 7 } } : {}),
  });
  // Rounded up to what a unit of the currency is worth at most.
  const sliceMax = isJittered
    ? undefined
    : ((Number(size) / slices) * 1.5 + (isByAmount ? 0.01 : 1e-6)).toFixed(8);
  const cap: Cap = { strategy: id, by: isByAmount ? 'amount' : 'quantity', size, limit, side, sliceMax };
  return { source, cap, notional: dollars, lengthMs: minutes * 60_000 };
}

const REBALANCE = { drift_threshold: '0.05', duration: 'PT2M' };
const weightsOf = (draw: Draw): Readonly<Record<string, string>> =>
  draw('weights') < 0.5 ? { usd: '0.5', btc: '0.5' } : { usd: '0.2', btc: '0.5', eth: '0.3' };

function rebalance(draw: Draw): Planned {
  const source = aStrategy('weights', 'rebalance', { target_weights: weightsOf(draw), ...REBALANCE });
  return { source, cap: undefined, notional: 1_000_000, lengthMs: 120_000 };
} // prettier-ignore

/** As often as not its trades are spread over time, and as often above the limit of one order. */
function largeRebalance(draw: Draw): Planned {
  const plain = rebalance(draw);
  const isSpread = draw('legs') < 0.5;
  const source = isSpread ? aStrategy('weights', 'rebalance', {
    ...REBALANCE,
    target_weights: weightsOf(draw),
    legs: { slices: 3, duration: 'PT45S' },
  }) : plain.source;
  return { ...plain, source, ...(draw('order limit') < 0.5 ? { orderNotionalMax: '90000' } : {}) };
} // prettier-ignore

/** Bitcoin for dollars, at a price of its own, until some time of the calendar. */
function atLimit(given: Chance, id: string): Planned {
  const of = (what: string): number => given.draw(`limit ${id} ${what}`, 0);
  const side = of('side') < 0.6 ? 'buy' : 'sell';
  const dollars = Math.round(between(of('size'), 2_000, 90_000, 2));
  const most = sized('total', of('by') < 0.5, dollars);
  const price = (PRICES.btcusd * (side === 'buy' ? 1.005 : 0.995)).toFixed(2);
  const source = aStrategy(id, 'limit', {
    pair: 'btcusd',
    side,
    limit_price: price,
    ...most.params,
    max_slice_notional: { amount: String(Math.ceil(dollars / (1 + Math.floor(of('pieces') * 5)))), currency: 'usd' },
    interval: of('interval') < 0.5 ? 'PT15S' : 'PT5S',
    good_til: calendar(150_000),
    ...(of('jitter') < 0.3 ? { jitter: { time_pct: 30, size_pct: 20, seed: 3 } } : {}),
  });
  const cap: Cap = { strategy: id, by: most.by, size: most.size, limit: price, side, sliceMax: undefined };
  return { source, cap, notional: dollars, lengthMs: 150_000 };
} // prettier-ignore

/** The same order three times, a minute apart. */
function recurring(given: Chance, id: string): Planned {
  const of = (what: string): number => given.draw(`recurring ${id} ${what}`, 0);
  const times = 3;
  const dollars = Math.round(between(of('size'), 600, 30_000, 2));
  const side = of('side') < 0.6 ? 'buy' : 'sell';
  const each = sized('each', of('by') < 0.5, dollars);
  const misfire = ['skip', 'once', 'all'][Math.floor(of('misfire') * 3)] ?? 'skip';
  const source = aStrategy(id, 'recurring', {
    pair: 'btcusd',
    side,
    ...each.params,
    schedule: { every: 'PT1M', first: calendar(20_000), misfire },
    window: 'PT40S',
    slices: 1 + Math.floor(of('slices') * 3),
    end_time: calendar(19_000 + times * 60_000),
  });
  const size = (Number(each.size) * times).toFixed(6);
  const cap: Cap = {
    strategy: id,
    by: each.by,
    size,
    limit: undefined,
    side,
    sliceMax: undefined,
    isRepeated: true,
  };
  return { source, cap, notional: dollars * times, lengthMs: 200_000 };
}

/** All of a currency but what is to be kept, which follows what is paid in and out. */
function sweep(given: Chance, id: string): Planned {
  const isSale = given.draw(`sweep ${id} side`, 0) < 0.5;
  const source = aStrategy(id, 'sweep', {
    ...(isSale
      ? { from: 'btc', to: 'usd', keep: { amount: '24.4', currency: 'btc' } }
      : { from: 'usd', to: 'btc', keep: { amount: '960000', currency: 'usd' } }),
    max_slice_notional: { amount: '15000', currency: 'usd' },
    interval: 'PT10S',
    min_interval: 'PT20S',
    end_time: calendar(140_000),
  });
  return { source, cap: undefined, notional: 100_000, lengthMs: 140_000 };
}

/** A share of what the market trades, with and without a cap. */
function pov(given: Chance, id: string): Planned {
  const of = (what: string): number => given.draw(`pov ${id} ${what}`, 0);
  const side = of('side') < 0.6 ? 'buy' : 'sell';
  const size = between(of('size'), 0.2, 3, 2).toFixed(4);
  const sliceMax = of('cap') < 0.5 ? '0.25' : undefined;
  const source = aStrategy(id, 'pov', {
    pair: 'btcusd',
    side,
    total_quantity: { amount: size, currency: 'btc' },
    share: of('share') < 0.5 ? '0.01' : '0.05',
    interval: of('interval') < 0.5 ? 'PT10S' : 'PT25S',
    duration: 'PT2M',
    ...(sliceMax === undefined ? {} : { max_slice_quantity: { amount: sliceMax, currency: 'btc' } }),
  });
  const cap: Cap = { strategy: id, by: 'quantity', size, limit: undefined, side, sliceMax };
  return { source, cap, notional: Number(size) * PRICES.btcusd, lengthMs: 120_000 };
}

const calendar = (ms: number): string => new Date(EPOCH + ms).toISOString();

/** A size in dollars, or in what they buy of bitcoin, as a parameter. */
function sized(
  what: 'total' | 'each',
  isByAmount: boolean,
  dollars: number,
): { readonly by: Cap['by']; readonly size: string; readonly params: Record<string, unknown> } {
  const size = isByAmount ? String(dollars) : (dollars / PRICES.btcusd).toFixed(6);
  return isByAmount
    ? { by: 'amount', size, params: { [`${what}_notional`]: { amount: size, currency: 'usd' } } }
    : { by: 'quantity', size, params: { [`${what}_quantity`]: { amount: size, currency: 'btc' } } };
}
