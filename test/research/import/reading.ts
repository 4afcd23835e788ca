import { importTape } from '../../../src/research/import/read.ts';
import type { ImportOptions } from '../../../src/research/import/read.ts';
import { OperatorError } from '../../../src/core/errors.ts';

/** Reads text or bytes as the importers do. */
export async function read(
  content: string | Uint8Array,
  options: ImportOptions = {},
  name = 'x.csv',
): ReturnType<typeof importTape> {
  return await importTape([{ name, bytes: Buffer.from(content) }], { pair: 'btcusd', ...options });
}

/** The message with which the content is refused; `taken` if it is accepted. Any other error is a bug and is thrown. */
export async function refusal(...given: Parameters<typeof read>): Promise<string> {
  try {
    await read(...given);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'taken';
}

/** Bars in this program's own layout. */
export const bars = (...rows: readonly string[]): string =>
  ['timestamp_ms,open,high,low,close,volume', ...rows, ''].join('\n');
export const bar = (minute: number, rest = '2,3,1,2.5,7'): string => `${minute * 60_000},${rest}`;
