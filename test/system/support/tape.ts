import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** Closes of one-minute bars, read by nothing of the product. A close is known when its minute is over. */
export interface Closes {
  /** The newest close known at this market time, Unix ms. */
  at(marketMs: number): number;
  /** Bars that begin within this time. */
  count(fromMs: number, toMs: number): number;
}

const MINUTE_MS = 60_000;

/** Reads `timestamp_ms,open,high,low,close,volume` from a gzip file. */
export function readCloses(file: string): Closes {
  const [, ...lines] = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n');
  const bars = lines.map((line) => {
    const cells = line.split(',');
    return { start: Number(cells[0]), close: Number(cells[4]) };
  });
  return {
    at(marketMs) {
      const bar = bars.findLast(({ start }) => start + MINUTE_MS <= marketMs);
      if (bar === undefined)
        throw new Error(`no bar of ${file} is known at ${new Date(marketMs).toISOString()}`);
      return bar.close;
    },
    count: (fromMs, toMs) => bars.filter(({ start }) => start >= fromMs && start < toMs).length,
  };
}
