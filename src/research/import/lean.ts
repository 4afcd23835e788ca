import { planOf } from './plan.ts';
import type { Detect, Sample } from './plan.ts';
import { textTime } from './times.ts';

const DAY = /(?:^|_)(\d{8})_(?:([a-z0-9]+)_)?(?:minute|second|tick)?_?(trade|quote)/u;

/**
 * Detects LEAN files from LEAN's zips. They have no header. Trade bars are time, open, high, low, close, volume; quote
 * bars are time, then open, high, low, close and size of the bid, then the same of the ask; ticks are time, price,
 * quantity. Minutes and seconds count milliseconds since midnight UTC of the date in the name; hours and days have
 * their time as text. Crypto prices are plain; equity prices are in ten-thousandths (`--price-scale 10000`). Source:
 * LEAN, Data/crypto/readme.md and Data/equity/readme.md, read 2026-11-22.
 */
export const detectLean: Detect = (sample) => {
  const [first = []] = sample.rows;
  const isQuotes = first.length === 11;
  const isTicks = first.length === 3;
  if (!isQuotes && !isTicks && first.length !== 6) return undefined;
  const time = timeOf(sample);
  if (time === undefined) return undefined;
  const pair = pairInName(sample.name);
  if (isTicks)
    return planOf(sample, {
      format: 'lean',
      of: 'trades',
      skip: 0,
      roles: { time: 0, close: 1, volume: 2 },
      time,
      pair,
    });
  const roles = { time: 0, open: 1, high: 2, low: 3, close: 4 };
  return planOf(sample, {
    format: 'lean',
    of: 'bars',
    skip: 0,
    roles: isQuotes ? roles : { ...roles, volume: 5 },
    ...(isQuotes ? { ask: { open: 6, high: 7, low: 8, close: 9 } } : {}),
    time,
    pair,
    mayBeEmpty: isQuotes,
    notes: isQuotes ? ['quotes: each price is the mid of bid and ask, without volume'] : [],
  });
};

function timeOf({ rows, name }: Sample): ReturnType<typeof planOf>['time'] | undefined {
  const first = rows[0]?.[0] ?? '';
  if (/^\d{8} \d{2}:\d{2}$/u.test(first)) return { as: 'text', read: textTime };
  const day = textTime(DAY.exec(name)?.[1] ?? '');
  if (day === undefined || !/^\d{1,8}$/u.test(first)) return undefined;
  return { as: 'ofDay', dayMs: day };
}

/** Returns the pair in a file name such as `20180404_btcusd_minute_trade.csv` or `btcusd.csv`. */
const pairInName = (name: string): string | undefined =>
  DAY.exec(name)?.[2] ?? /^([a-z0-9]{5,12})(?:_trade|_quote)?\.csv$/u.exec(name)?.[1];
