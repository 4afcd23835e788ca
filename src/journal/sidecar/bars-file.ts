import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Bar } from '../../core/bar.ts';
import { price, text } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { BarsPort, KeptBars } from '../../engine/ports.ts';

/** Largest accepted size: 20 strategies with the maximum of bars. This program writes no larger file. */
const BYTES_MAX = 4 * 1024 * 1024;
const VERSION = 1;
type Row = readonly [from: number, open: string, high: string, low: string, close: string];

/**
 * The bars of a desk in a file beside the journal, for the next process. The file is written under another name and
 * renamed, so that a crash leaves the previous file. Unreadable bars are ignored and rebuilt.
 */
export const barsFile = (file: string, warn: (why: string) => void): BarsPort => ({
  read() {
    try {
      const bytes = readFileSync(file);
      return bytes.length > BYTES_MAX ? [] : seriesIn(JSON.parse(bytes.toString('utf8')));
    } catch {
      return [];
    }
  },
  keep(series) {
    const rows = series.map(({ pair, intervalMs, bars }) => ({ pair, intervalMs, bars: bars.map(rowOf) }));
    const draft = `${file}.draft`;
    try {
      writeFileSync(draft, JSON.stringify({ version: VERSION, series: rows }), { mode: 0o600 });
      renameSync(draft, file);
    } catch (cause) {
      warn(cause instanceof Error ? cause.message : String(cause));
    }
  },
});

const rowOf = ({ from, open, high, low, close }: Bar): Row => [from, text(open), text(high), text(low), text(close)]; // prettier-ignore

/** Throws for content that this program has not written. */
function seriesIn(read: unknown): readonly KeptBars[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every part is read below, and what is odd throws
  const { version, series } = read as {
    readonly version: unknown;
    readonly series: readonly {
      readonly pair: string;
      readonly intervalMs: number;
      readonly bars: readonly Row[];
    }[];
  };
  if (version !== VERSION) return [];
  return series.map(({ pair, intervalMs, bars }) => ({ pair, intervalMs, bars: bars.map(barOf) }));
}

const barOf = ([from, open, high, low, close]: Row): Bar => ({
  from: instant(from),
  open: price(open),
  high: price(high),
  low: price(low),
  close: price(close),
});
