import { fixedEven, fraction, ratioOf } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import type { Report } from '../json/schema.ts';
import type { Spread } from '../json/schema-parts.ts';
import type { AttemptFacts } from './facts.ts';

/** Figures of quotes and orders, as `report.json` has them. A ratio is omitted if its whole is 0. */
export type Quoting = Report['quoting'];

/** Reasons without a usable quote. Every other reason implies a usable quote. */
const WITHOUT_QUOTE: ReadonlySet<Reason> = new Set<Reason>([
  'quotes_unavailable', 'rate_limited', 'too_large', 'unsupported_pair', 'venue_refused', 'venue_failed', 'unauthorised',
  'quote_invalid', 'selling_off',
]); // prettier-ignore
/** The quote was acceptable, but its time was over. */
const EXPIRED: ReadonlySet<Reason> = new Set<Reason>(['quote_too_short', 'discontinuity']);

export function quotingOf(attempts: readonly AttemptFacts[]): Quoting {
  let [quotes, orders, fills, open, expired, rejected, doubts] = [0, 0, 0, 0, 0, 0, 0];
  const [ages, lives]: [number[], number[]] = [[], []];
  const reasons = new Map<Reason, number>();
  for (const attempt of attempts) {
    const { quote, result, reason, wasDoubt } = attempt;
    if (hadQuote(attempt)) quotes++;
    if (result === 'filled') fills++;
    else if (result !== undefined && reason !== undefined)
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    if (result === 'rejected') rejected++;
    if (result === 'discarded' && reason !== undefined && EXPIRED.has(reason)) expired++;
    if (wasDoubt) doubts++;
    if (!hasLeft(attempt)) continue;
    orders++;
    if (result === undefined || result === 'doubt') open++;
    if (quote === undefined) continue;
    ages.push(quote.age_ms);
    lives.push(quote.life_ms);
  }
  const requests = attempts.length;
  return {
    requests,
    quotes,
    orders,
    fills,
    rejected,
    doubts,
    open,
    expired,
    response_ratio: share(quotes, requests),
    hit_ratio: share(fills, quotes),
    accept_ratio: share(orders, quotes),
    fill_ratio: share(fills, orders - open),
    expiry_miss_ratio: share(expired, expired + orders),
    attempts_per_fill: share(requests, fills),
    quote_age_ms: spreadOf(ages),
    quote_life_ms: spreadOf(lives),
    refusals: [...reasons]
      .map(([reason, times]) => ({ reason, attempts: times }))
      .toSorted((a, b) => b.attempts - a.attempts || (a.reason < b.reason ? -1 : 1)),
  };
}

/** Whether an order was sent, which is so if its quote was recorded or the venue reported its outcome. */
const hasLeft = ({ quote, result }: AttemptFacts): boolean =>
  quote !== undefined || result === 'filled' || result === 'rejected';

const hadQuote = (attempt: AttemptFacts): boolean =>
  hasLeft(attempt) ||
  (attempt.result === 'discarded' && attempt.reason !== undefined && !WITHOUT_QUOTE.has(attempt.reason));

/** Rounded to six decimals, to the nearest. */
const share = (part: number, whole: number): number | undefined =>
  whole === 0 ? undefined : Number(fixedEven(fraction(ratioOf(part), ratioOf(whole)), 6));

/** Mean rounded to three decimals, to the nearest; ranks as measured: the p-th of n is the `⌈p·n⌉`-th smallest. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const sorted = Float64Array.from(values).toSorted();
  const rank = (p: number): number => sorted[Math.ceil(p * sorted.length) - 1] ?? 0;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return {
    count: sorted.length,
    mean: Math.round(mean * 1000) / 1000,
    median: rank(0.5),
    p95: rank(0.95),
    max: rank(1),
  };
}
