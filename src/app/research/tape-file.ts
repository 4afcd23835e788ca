import { openTape } from '../../research/tape/store.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { OperatorError } from '../../core/errors.ts';

export interface TapeFile {
  readonly pair: string;
  /** Path as the operator gave it, absolute or relative to `cwd`. */
  readonly name: string;
  readonly cwd: string;
  /** Cache folder of tapes, absolute or relative to `cwd`. Omitted: no cache. */
  readonly cacheFolder?: string | undefined;
}

/**
 * Reads the prices of a pair: a tape, or any file that `data import` reads.
 *
 * @throws OperatorError (`data`, `usage`) with the name of the file, and the row if one is damaged.
 */
export async function readTape({ pair, name, cwd, cacheFolder }: TapeFile): Promise<Tape> {
  try {
    const { tape } = await openTape([name], { pair, cwd, cacheFolder });
    return tape;
  } catch (cause) {
    if (!(cause instanceof OperatorError) || !IMPORT_OPTIONS.test(cause.message)) throw cause;
    // The original message suggests an option that only another command has.
    const how = `tranche data import ${name} --pair ${pair} --out ${pair}.arrow`;
    throw new OperatorError(
      cause.exit,
      `${cause.message}\n(that option belongs to "tranche data import": add it to "${how}", then pass --data ${pair}=${pair}.arrow here)`,
      cause,
    );
  }
}

const IMPORT_OPTIONS = /add --(?:bar|format|keep|max-size|sort|unit)\b/u;

/** A file with the prices of a pair, from `--data btcusd=FILE`. */
export interface NamedFile {
  readonly pair: string;
  readonly file: string;
}

/** Parses one of several `--data` options. @throws OperatorError `usage`. */
export function readName(text: string, index: number, all: readonly string[]): NamedFile {
  const groups = /^(?<pair>[a-z0-9]{4,24})=(?<file>.+)$/u.exec(text)?.groups;
  const pair = groups?.['pair'] ?? '';
  if (groups === undefined)
    throw new OperatorError(
      'usage',
      `--data: expected a pair and a file with its prices, such as btcusd=btcusd.csv.gz, got "${text}"`,
    );
  if (all.slice(0, index).some((other) => other.startsWith(`${pair}=`)))
    throw new OperatorError('usage', `--data: ${pair} is given twice`);
  return { pair, file: groups['file'] ?? '' };
}
