import { feesInQuote } from '../../core/cycle/balance-changes.ts';
import { approximate, decimalsOf, greatest, money } from '../../core/money.ts';
import type { ExecutionModel } from '../run/model.ts';
import type { Tape } from '../tape/tape.ts';
import { usdOf } from './asks.ts';
import type { Asked } from './asks.ts';
import { FLOORS, isFitted, rounded, roundedFit, tooFew } from './fitted-setting.ts';
import type { SettingName, Learnt } from './fitted-setting.ts';
import { fitOutages } from './outages.ts';
import { median, quantile, weightedMedian } from './robust.ts';
import { fitSpread } from './spread.ts';
import { fitRefusals } from './turned-down.ts';

export interface Learning {
  /** Defaults for settings with too little data. */
  readonly base: ExecutionModel;
  /** Prices of pairs, to distinguish last look from other refusals. */
  readonly tapes?: readonly Tape[] | undefined;
}

/** Estimates every setting of the execution model for which a journal provides data. */
export function learn(asked: Asked, { base, tapes = [] }: Learning): readonly Learnt[] {
  return [
    ...fitSpread(asked, base),
    ...fitMaximum(asked, base),
    ...fitLife(asked),
    ...fitLatency(asked),
    ...fitRefusals(asked, base, tapes),
    ...fitOutages(asked, base),
    fitFee(asked),
  ];
}

/** Returns caveats for using the result. */
export function caveatsOf(asked: Asked, learnt: readonly Learnt[]): readonly string[] {
  const { asks, modes } = asked;
  const unseen = asks.filter(({ end, quote }) => quote === undefined && end?.reason !== undefined && WANTED.has(end.reason)).length; // prettier-ignore
  const quotes = asks.filter(({ quote }) => quote !== undefined).length;
  return [
    ...(unseen === 0 ? [] : [`the journal lacks the prices of ${unseen} quotes that the desk rejected (collar, limit_price, tactics_refused, …) and has those of ${quotes}: the true spread is wider than the estimate`]),
    ...(modes.includes('paper') || modes.includes('backtest') ? ['The quotes come from a simulated venue: the estimates describe its model, not a market'] : []),
    ...(learnt.some((one) => isFitted(one) && one.name === 'half_spread_bps') ? ['Quotes are compared with the reference price of the desk: if that price is late or is itself a quote, the half spread includes its error'] : []),
  ]; // prettier-ignore
}

/** Reasons for rejecting a received quote because of its price. */
const WANTED: ReadonlySet<string> = new Set(['collar', 'price_drift', 'limit_price', 'tactics_refused']); // prettier-ignore

const measured = (
  name: SettingName,
  values: readonly number[],
  {
    of,
    decimals,
    note,
  }: { readonly of: string; readonly decimals: number; readonly note?: string | undefined },
): Learnt => {
  if (values.length < FLOORS[name]) return { name, why: tooFew(name, values.length, of) };
  const spread = {
    p25: rounded(quantile(values, 0.25), decimals),
    p75: rounded(quantile(values, 0.75), decimals),
    p95: rounded(quantile(values, 0.95), decimals),
  };
  return roundedFit({ name, ...median(values), count: values.length, of, spread, note }, decimals);
};

const fitLife = ({ asks }: Asked): readonly Learnt[] => [
  measured('quote_life_ms', asks.flatMap(({ quote }) => (quote === undefined ? [] : [quote.body.life_ms])), { of: 'quotes', decimals: 0 }),
]; // prettier-ignore

/**
 * Estimates latencies. A quote was requested when the intent was written, and arrived `age_ms` before its order was sent,
 * which is when its record was created. An order lasted from that time to the first record of its outcome, unless that
 * record was a doubt.
 */
function fitLatency({ asks }: Asked): readonly Learnt[] {
  const quotes = asks.flatMap(({ at, quote }) =>
    quote === undefined ? [] : [quote.at - quote.body.age_ms - at],
  );
  const orders = asks.flatMap(({ quote, end, isDry, fill }) => {
    if (isDry || quote === undefined || end === undefined) return [];
    const isAnswer = end.result === 'rejected' || (end.result === 'filled' && fill?.source === 'order') || (end.result === 'doubt' && end.reason === 'order_canceled'); // prettier-ignore
    return isAnswer ? [end.at - quote.at] : [];
  });
  const possible = (all: readonly number[]): readonly number[] => all.filter((ms) => ms >= 0);
  const backwards = quotes.length + orders.length - possible(quotes).length - possible(orders).length;
  const note =
    backwards === 0
      ? undefined
      : `${backwards} negative values, caused by a clock that was set, are excluded`;
  const isDry = asks.length > 0 && asks.every((ask) => ask.isDry);
  return [
    measured('quote_latency_ms', possible(quotes), { of: 'quotes', decimals: 0, note }),
    isDry ? { name: 'order_latency_ms', why: DRY } : measured('order_latency_ms', possible(orders), { of: 'orders', decimals: 0, note }),
  ]; // prettier-ignore
}

const DRY = 'in a dry run, the desk itself simulates orders';

/**
 * Estimates the fee rate. A fee that is rounded up bounds the rate, which is at most the paid rate, and more than the
 * paid rate minus one unit of its last decimal. The result is a rate within the bounds of all fills. If there is no
 * such rate (because of tiers, or because the rate changed), the result is the median, weighted by traded amount.
 */
function fitFee({ asks }: Asked): Learnt {
  const real = asks.flatMap(({ fill, isDry }) => (fill === undefined || isDry ? [] : [fill]));
  if (real.length === 0 && asks.some(({ isDry }) => isDry)) return { name: 'fee_bps', why: DRY };
  const decimals = new Map<string, number>();
  for (const { quote, fees } of real)
    decimals.set(quote, Math.max(decimals.get(quote) ?? 0, decimalsOf(money(fees))));
  const rows = real.flatMap((fill) => {
    const { quote, amount } = fill;
    const weight = approximate(money(amount));
    if (!(weight > 0)) return [];
    const paid = approximate(feesInQuote(fill));
    const unit = 10 ** -(decimals.get(quote) ?? 0);
    return [{ value: (10_000 * paid) / weight, least: (10_000 * Math.max(0, paid - unit)) / weight, weight }];
  });
  const count = rows.length;
  if (count < FLOORS.fee_bps) return { name: 'fee_bps', why: tooFew('fee_bps', count, 'fills') };
  const fitted = { name: 'fee_bps', count, of: 'fills' } as const;
  const low = rows.reduce((most, { least }) => Math.max(most, least), 0);
  const high = rows.reduce((least, { value }) => Math.min(least, value), Number.POSITIVE_INFINITY);
  if (high === 0 && low === 0) return { ...fitted, value: 0, low, high };
  if (low <= high) return roundedFit({ ...fitted, value: (low + high) / 2, low, high, note: 'one rate fits all fills' }, 4); // prettier-ignore
  const values = rows.map(({ value }) => value);
  const note = 'no single rate fits all fills: the interval covers 95 of 100';
  return roundedFit({ ...fitted, value: weightedMedian(rows), low: quantile(values, 0.025), high: quantile(values, 0.975), note }, 4); // prettier-ignore
}

/**
 * Estimates the largest quote of each pair. A stated maximum is exact. Without one, a quote larger than the base model allows shows
 * that the base is wrong.
 */
function fitMaximum(asked: Asked, base: ExecutionModel): readonly Learnt[] {
  const stated = Map.groupBy(asked.maxima, ({ body }) => body.pair);
  const pairs = new Set([...stated.keys(), ...asked.asks.map(({ intent }) => intent.pair)]);
  return [...pairs].map((pair): Learnt => {
    const usd = stated.get(pair)?.map(({ body }) => approximate(money(body.usd))) ?? [];
    if (usd.length > 0) {
      const spread = { p25: rounded(quantile(usd, 0.25), 2), p75: rounded(quantile(usd, 0.75), 2), p95: rounded(quantile(usd, 0.95), 2) }; // prettier-ignore
      return roundedFit({ name: 'max_usd', pair, ...median(usd), count: usd.length, of: 'refusals that stated a maximum', spread }, 2); // prettier-ignore
    }
    return largestQuote(asked, pair, base);
  });
}

function largestQuote(asked: Asked, pair: string, { maxUsd }: ExecutionModel): Learnt {
  const sizes = asked.asks.flatMap(({ intent, quote }) => {
    if (intent.pair !== pair || quote === undefined) return [];
    return usdOf(asked, intent.quote, quote.body.amount) ?? [];
  });
  const largest = sizes.reduce((a, b) => Math.max(a, b), 0);
  const why = `the venue never rejected a size as too large; the largest quote was ${rounded(largest, 2)} USD`;
  if (greatest(money(maxUsd), money(largest.toFixed(2))).eq(money(maxUsd)))
    return { name: 'max_usd', pair, why };
  const seen = rounded(largest, 2);
  return { name: 'max_usd', pair, value: seen, low: seen, high: Number.POSITIVE_INFINITY, count: sizes.length, of: 'quotes', note: `at least: ${why}`}; // prettier-ignore
}
