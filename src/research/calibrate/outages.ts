import type { Reason } from '../../core/reasons.ts';
import type { ExecutionModel } from '../run/model.ts';
import type { Ask, Asked } from './asks.ts';
import { FLOORS, rounded, roundedFit, tooFew } from './fitted-setting.ts';
import type { Learnt } from './fitted-setting.ts';
import { median, shareOf } from './robust.ts';
import type { Estimate } from './robust.ts';

/** Reasons that show that the venue gave no quotes. */
const OUT: ReadonlySet<Reason> = new Set<Reason>(['quotes_unavailable', 'venue_failed']);
/** Reasons that do not show whether the venue gives quotes. */
const NEITHER: ReadonlySet<Reason> = new Set<Reason>([
  'rate_limited', 'venue_refused', 'unauthorised', 'unsupported_pair', 'selling_off', 'quote_invalid',
]); // prettier-ignore

/** Largest value in a model. */
const MS_MAX = 3_600_000;

/**
 * Estimates outages. The share of time without quotes is the share of first requests of a slice that got no quote.
 * Later requests are ignored, because a slice repeats its request during an outage. An outage that is observed at a
 * random instant lasts for another half of its length in the median, so `length = 2·(1 − share)·median`; the factor
 * removes outages that follow one another by chance.
 */
export function fitOutages(asked: Asked, base: ExecutionModel): readonly Learnt[] {
  const firsts = asked.asks.flatMap((ask) => {
    const out = isOut(ask);
    return ask.isFirst && out !== undefined ? [{ at: ask.at, out }] : [];
  });
  const out = firsts.filter((one) => one.out).length;
  const share = out / Math.max(1, firsts.length);
  const length = lengthOf(asked, share);
  const pieceMs = length === undefined || 'why' in length ? base.unavailableMs : length.value;
  return [
    fitShare(firsts, { out, pieceMs }),
    length ?? { name: 'unavailable_ms', why: 'no outage was observed' },
  ];
}

/** Estimates the share. Requests during one outage are one observation, because the interval counts the observed periods of time. */
function fitShare(
  firsts: readonly { readonly at: number }[],
  { out, pieceMs }: { readonly out: number; readonly pieceMs: number },
): Learnt {
  const of = 'first requests of slices';
  const count = firsts.length;
  if (count < FLOORS.unavailable_share)
    return { name: 'unavailable_share', why: tooFew('unavailable_share', count, of) };
  const pieces = new Set(firsts.map(({ at }) => Math.floor(at / pieceMs))).size;
  const note = `${out} got no quote; they cover ${pieces} intervals of ${Math.round(pieceMs / 1000)} s`;
  return roundedFit({ name: 'unavailable_share', ...shareOf(out, count, pieces), count, of, note }, 6);
}

function lengthOf(asked: Asked, share: number): Learnt | undefined {
  const met = [...Map.groupBy(asked.asks, ({ intent }) => intent.pair).values()].map(outagesOf);
  const outages = met.flat();
  const rests = outages.flat();
  const of = 'outages';
  if (rests.length === 0) return undefined;
  if (outages.length < FLOORS.unavailable_ms)
    return { name: 'unavailable_ms', why: tooFew('unavailable_ms', outages.length, of) };
  const medianOf = (values: readonly number[]): Estimate => median(values, outages.length);
  const least = medianOf(rests.map((rest) => rest.least));
  const most = medianOf(rests.map((rest) => rest.most));
  const middle = medianOf(rests.map((rest) => (rest.least + rest.most) / 2));
  const length = (ms: number): number => Math.min(MS_MAX, Math.max(1, 2 * (1 - share) * ms));
  const all = { value: length(middle.value), low: length(least.low), high: length(most.high) };
  const note = `for ${rests.length} slices that met an outage, the median remaining time was ${rounded(least.value / 1000, 1)} to ${rounded(most.value / 1000, 1)} s`;
  return roundedFit({ name: 'unavailable_ms', ...all, count: outages.length, of, note }, 0);
}

/**
 * The remaining time of an outage when a slice encountered it: at least until the last consecutive refusal, at most
 * until the next quote.
 */
interface Rest {
  readonly least: number;
  readonly most: number;
}

/** Returns each ended outage as slices encountered it. Only first requests count, because their times were planned. */
function outagesOf(asks: readonly Ask[]): readonly (readonly Rest[])[] {
  const outages: Rest[][] = [];
  let [met, last]: [number[], number] = [[], 0];
  for (const ask of asks.toSorted((a, b) => a.at - b.at)) {
    const out = isOut(ask);
    if (out === undefined) continue;
    if (out) {
      if (ask.isFirst) met.push(ask.at);
      last = ask.at;
      continue;
    }
    if (met.length > 0) outages.push(met.map((at) => ({ least: last - at, most: ask.at - at })));
    met = [];
  }
  return outages;
}

/** Whether quotes were unavailable; `undefined` if unknown. */
function isOut({ quote, end }: Ask): boolean | undefined {
  if (quote !== undefined) return false;
  const reason = end?.reason;
  if (end === undefined || (reason !== undefined && NEITHER.has(reason))) return undefined;
  return reason !== undefined && OUT.has(reason);
}
