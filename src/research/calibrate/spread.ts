import { approximate, decimalsOf, price, slippageBps } from '../../core/money.ts';
import type { ExecutionModel } from '../run/model.ts';
import { usdOf } from './asks.ts';
import type { Ask, Asked } from './asks.ts';
import { FLOORS, rounded, roundedFit, tooFew } from './fitted-setting.ts';
import type { Learnt } from './fitted-setting.ts';
import { lineThrough, median, quantile } from './robust.ts';
import type { Estimate } from './robust.ts';

/** A quote: the square root of its size, and its distance from the mid price. */
interface Point {
  readonly pair: string;
  /** `√(USD / 1 million)`: at 1, the cost of size equals the impact of the model. */
  readonly root: number;
  readonly bps: number;
}

/** Sizes whose 90th percentile is less than this multiple of their 10th do not show the cost of size. */
const SIZES_APART = 4;
const MILLION = 1_000_000;

/**
 * Estimates half spread and impact: `bps = half_spread + impact · √(USD / 1 million)`, a line through the quotes by
 * Theil and Sen. Fitted for all pairs together, and for each pair with enough quotes. If sizes are too similar, the
 * impact of the wider group or of the base remains.
 */
export function fitSpread(asked: Asked, base: ExecutionModel): readonly Learnt[] {
  const points = pointsOf(asked);
  const whole = fitGroup(points, { impact: base.impactBps });
  const impact = whole.impact ?? base.impactBps;
  const pairs = Map.groupBy(points, ({ pair }) => pair);
  if (pairs.size < 2) return whole.fittedSettings;
  return [
    ...whole.fittedSettings,
    ...[...pairs].flatMap(([pair, own]) => fitGroup(own, { pair, impact }).fittedSettings),
  ];
}

function fitGroup(
  points: readonly Point[],
  { pair, impact: known }: { readonly pair?: string; readonly impact: number },
): { readonly fittedSettings: readonly Learnt[]; readonly impact: number | undefined } {
  const count = points.length;
  const whose = pair === undefined ? {} : { pair };
  if (count < FLOORS.half_spread_bps) {
    const why = tooFew('half_spread_bps', count, 'quotes');
    return { fittedSettings: [{ name: 'half_spread_bps', ...whose, why }, { name: 'impact_bps', ...whose, why }], impact: undefined }; // prettier-ignore
  }
  const apart = sizesApart(points);
  const line = count >= FLOORS.impact_bps && apart >= SIZES_APART ? lineThrough(points.map(({ root, bps }) => [root, bps])) : undefined; // prettier-ignore
  const slope = line && atLeastZero(line.slope);
  const by = slope?.value ?? known;
  const left = points.map(({ root, bps }) => bps - by * root);
  const level = atLeastZero(slope === undefined || line === undefined ? median(left) : { ...line.level, value: median(left).value }); // prettier-ignore
  const sizes = `sizes of ${rounded(MILLION * quantile(points.map(({ root }) => root), 0.1) ** 2, 0)} to ${rounded(MILLION * quantile(points.map(({ root }) => root), 0.9) ** 2, 0)} USD (10th to 90th percentile)`; // prettier-ignore
  const spread = {
    p25: rounded(quantile(left, 0.25), 4),
    p75: rounded(quantile(left, 0.75), 4),
    p95: rounded(quantile(left, 0.95), 4),
  };
  const half = { name: 'half_spread_bps', ...whose, ...level, count, of: 'quotes', spread } as const;
  if (slope === undefined) {
    const why =
      count < FLOORS.impact_bps
        ? tooFew('impact_bps', count, 'quotes')
        : `${sizes}: too similar to estimate the impact`;
    const note = `assumes an impact of ${known} bps`;
    return { fittedSettings: [roundedFit({ ...half, note }, 4), { name: 'impact_bps', ...whose, why }], impact: undefined }; // prettier-ignore
  }
  const isFlat = slope.value === 0 ? 'no impact was observed' : undefined;
  const note = isFlat === undefined ? sizes : `${sizes}; ${isFlat}`;
  const impact = roundedFit({ name: 'impact_bps', ...whose, ...slope, count, of: 'quotes', note }, 4);
  return { fittedSettings: [roundedFit(half, 4), impact], impact: impact.value };
}

/** Raises negative values to zero. A dealer never pays for a trade, so a negative value is noise. */
const atLeastZero = ({ value, low, high }: Estimate): Estimate => ({
  value: Math.max(0, value),
  low: Math.max(0, low),
  high: Math.max(0, high),
});

const sizesApart = (points: readonly Point[]): number => {
  const sizes = points.map(({ root }) => root * root);
  return quantile(sizes, 0.9) / quantile(sizes, 0.1);
};

/**
 * Returns the quotes of orders that were sent, compared with the desk's reference price at their request. The price is
 * exact. Half a unit of its last decimal is subtracted, because a venue that rounds against its client adds that much
 * on average, and that part is not spread.
 */
function pointsOf(asked: Asked): readonly Point[] {
  const quoted = asked.asks.filter(({ quote }) => quote !== undefined);
  const decimals = new Map<string, number>();
  for (const { intent, quote } of quoted)
    decimals.set(
      intent.pair,
      Math.max(decimals.get(intent.pair) ?? 0, decimalsOf(price(quote?.body.price ?? '0'))),
    );
  return quoted.flatMap((ask) => pointOf(ask, asked, decimals.get(ask.intent.pair) ?? 0));
}

function pointOf({ intent, quote }: Ask, asked: Asked, decimals: number): readonly Point[] {
  if (quote === undefined) return [];
  const { pair, side, reference_price: reference } = intent;
  const middle = price(reference);
  const usd = usdOf(asked, intent.quote, quote.body.amount);
  if (!middle.gt(0) || usd === undefined || !(usd > 0)) return [];
  const away = approximate(slippageBps(side, price(quote.body.price), middle));
  const half = (10 ** -decimals / 2 / approximate(middle)) * 10_000;
  return [{ pair, root: Math.sqrt(usd / MILLION), bps: away - half }];
}
