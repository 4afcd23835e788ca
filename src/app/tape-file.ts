import { openTape } from '../backtest/store.ts';
import type { Tape } from '../backtest/tape.ts';

export interface TapeFile {
  readonly pair: string;
  /** Absolute, or below `cwd`; as the operator named it, for messages. */
  readonly name: string;
  readonly cwd: string;
  /** Folder of cached tapes, absolute or below `cwd`; left out, the file is read each time. */
  readonly cacheFolder?: string | undefined;
}

/**
 * Reads the prices of a pair: a tape, or whatever `data import` reads.
 *
 * @throws OperatorError (`data`, `usage`) that names the file, and the row when one is damaged.
 */
export async function readTape({ pair, name, cwd, cacheFolder }: TapeFile): Promise<Tape> {
  const { tape } = await openTape([name], { pair, cwd, cacheFolder });
  return tape;
}
