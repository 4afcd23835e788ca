import { MINUTE_MS } from '../../core/time.ts';
import { minutesOf, partsOf } from './day-parts.ts';
import type { Division, Parts } from './day-parts.ts';

/** Volume that traded evenly from one instant to another, Unix ms. For a single trade, both are the same. */
export interface Volume {
  readonly fromMs: number;
  readonly untilMs: number;
  /** In any unit, which is the same throughout. */
  readonly volume: number;
}

/** Shares of the volume of a day or week, by part. */
export interface VolumeShares {
  /** In millionths; they sum to a million exactly, and each is above zero. */
  readonly millionths: readonly number[];
}

/** Why the volumes do not suffice for a profile. */
export interface Unknown {
  /** The first part without data, and why, for people. */
  readonly why: string;
}

const WHOLE = 1_000_000;

/**
 * Learns how volume is distributed over a day or a week: the mean of each part over the time for which it was observed,
 * so that partly observed days count for what they show. `volumes` come in chronological order; `seen` lists the
 * observed spans.
 */
export function learnShares(
  volumes: Iterable<Volume>,
  seen: Iterable<Pick<Volume, 'fromMs' | 'untilMs'>>,
  division: Division,
): VolumeShares | Unknown {
  const traded = new Float64Array(division.parts);
  const lookedMs = new Float64Array(division.parts);
  const [ofTrades, ofLooks] = [partsOf(division, 0), partsOf(division, 0)];
  for (const { fromMs, untilMs, volume } of volumes) {
    const lengthMs = untilMs - fromMs;
    for (const { part, ms } of cut({ fromMs, untilMs }, ofTrades))
      traded[part] = (traded[part] ?? 0) + (lengthMs === 0 ? volume : (volume * ms) / lengthMs);
  }
  for (const span of seen)
    for (const { part, ms } of cut(span, ofLooks)) lookedMs[part] = (lookedMs[part] ?? 0) + ms;
  const unseen = lookedMs.findIndex((ms) => ms === 0);
  if (unseen !== -1) return { why: `nothing was recorded ${nameOf(unseen, division)}` };
  const empty = traded.findIndex((volume) => volume === 0);
  if (empty !== -1)
    return {
      why: `no volume was traded ${nameOf(empty, division)}, and a slice must not be empty: use fewer parts`,
    };
  return { millionths: rounded([...traded].map((volume, part) => volume / (lookedMs[part] ?? 1))) };
}

/** Yields the parts that a span covers, and for how long. A single instant lies in one part. */
function* cut(
  { fromMs, untilMs }: Pick<Volume, 'fromMs' | 'untilMs'>,
  parts: Parts,
): Generator<{ readonly part: number; readonly ms: number }> {
  let at = fromMs;
  do {
    const { part, untilMs: endMs } = parts.at(at);
    const to = Math.min(untilMs, endMs);
    yield { part, ms: to - at };
    at = to;
  } while (at < untilMs);
}

/**
 * Converts rates to shares in whole millionths that sum to a million. The rounding remainder goes to the shares that
 * lost most by rounding.
 */
function rounded(rates: readonly number[]): readonly number[] {
  const total = rates.reduce((sum, rate) => sum + rate, 0);
  const exact = rates.map((rate) => (rate / total) * (WHOLE - rates.length));
  // Each part has at least one millionth.
  const millionths = exact.map((share) => 1 + Math.floor(share));
  const rest = WHOLE - millionths.reduce((sum, one) => sum + one, 0);
  const losers = exact
    .map((share, part) => ({ part, lost: share - Math.floor(share) }))
    .toSorted((a, b) => b.lost - a.lost || a.part - b.part)
    .slice(0, rest);
  for (const { part } of losers) millionths[part] = (millionths[part] ?? 0) + 1;
  return millionths;
}

const WEEK = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

/** Returns the name of a part: "on Monday between 03:00 and 04:00". */
function nameOf(part: number, { period, parts, zone }: Division): string {
  const minutes = minutesOf(period) / parts;
  const clock = (minute: number): string =>
    `${String(Math.floor((minute % 1440) / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  const from = part * minutes;
  const day = period === 'week' ? `on ${WEEK[Math.floor(from / 1440)] ?? ''} ` : '';
  return `${day}between ${clock(from)} and ${clock(from + minutes)} (${zone})`;
}

/** Returns the length of a part, ms. */
export const partMsOf = ({ period, parts }: Division): number => (minutesOf(period) * MINUTE_MS) / parts;
