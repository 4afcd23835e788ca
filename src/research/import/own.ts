import { planOf, unitOf } from './plan.ts';
import type { Detect } from './plan.ts';

const BARS = 'timestamp_ms,open,high,low,close,volume';
const CLOSES = 'timestamp_ms,close';
const TRADES = 'timestamp_ms,price,quantity,side';

/** Detects this program's own files: bars, closes, trades. Times are Unix milliseconds, as the header states. */
export const detectOwn: Detect = (sample, { unit }) => {
  const header = sample.rows[0]?.join(',');
  if (header !== BARS && header !== CLOSES && header !== TRADES) return undefined;
  const first = unitOf(sample.rows[1]?.[0] ?? '');
  if (unit === undefined && first !== undefined && first !== 'ms')
    return {
      refused: `the header says timestamp_ms, but the first time looks like ${unitWords[first]}: correct it, or add --unit ${first}`,
    };
  const time = { as: 'unix', unit: unit ?? 'ms' } as const;
  if (header === TRADES)
    return planOf(sample, { format: 'tranche', of: 'trades', skip: 1, width: 4, roles: { time: 0, close: 1, volume: 2 }, time }); // prettier-ignore
  const roles =
    header === CLOSES ? { time: 0, close: 1 } : { time: 0, open: 1, high: 2, low: 3, close: 4, volume: 5 };
  const notes = header === CLOSES ? ['only closes: open, high and low of each bar equal its close'] : [];
  return planOf(sample, {
    format: 'tranche',
    of: 'bars',
    skip: 1,
    width: header.split(',').length,
    roles,
    time,
    notes,
  });
};

export const unitWords = { s: 'seconds', ms: 'milliseconds', us: 'microseconds', ns: 'nanoseconds' } as const;
