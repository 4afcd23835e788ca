import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { tapeOf } from '../backtest/tape.ts';
import type { Tape } from '../backtest/tape.ts';
import { OperatorError } from '../core/errors.ts';
import { parseTape } from '../simulator/tape.ts';

export interface TapeFile {
  readonly pair: string;
  /** Absolute. */
  readonly file: string;
  /** As the operator named it, for messages. */
  readonly name: string;
}

/** Reads the prices of a pair. @throws OperatorError (`data`) that names the file, and the row when one is damaged. */
export async function readTape({ pair, file, name }: TapeFile): Promise<Tape> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new OperatorError('data', `cannot read ${name}: ${String(cause)}`, cause);
  });
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const csv = (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
  const { barMs } = parseTape(csv, name);
  const rows = csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',').map(Number));
  const column = (at: number): Float64Array => Float64Array.from(rows, (row) => row[at] ?? Number.NaN);
  const isShort = (rows[0]?.length ?? 0) === 2;
  const [open, high, low, close] = isShort ? [1, 1, 1, 1] : [1, 2, 3, 4];
  return tapeOf({
    pair,
    barMs,
    columns: {
      times: column(0),
      open: column(open ?? 1),
      high: column(high ?? 1),
      low: column(low ?? 1),
      close: column(close ?? 1),
      volume: column(isShort ? 9 : 5),
    },
  });
}
