import { beginTape, openTape } from '../../research/tape/store.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { OperatorError } from '../../core/errors.ts';

export interface TapeFile {
  readonly pair: string;
  /** Absolute, or below `cwd`; as the operator named it, for messages. */
  readonly name: string;
  readonly cwd: string;
  /** Folder of cached tapes, absolute or below `cwd`; without it the file is read each time. */
  readonly cacheFolder?: string | undefined;
}

/**
 * Reads the prices of a pair: a tape, or any file that `data import` reads.
 *
 * @throws OperatorError (`data`, `usage`) that names the file, and the row when one is damaged.
 */
export async function readTape({ pair, name, cwd, cacheFolder }: TapeFile): Promise<Tape> {
  try {
    const { tape } = await openTape([name], { pair, cwd, cacheFolder });
    return tape;
  } catch (cause) {
    if (!(cause instanceof OperatorError) || !IMPORT_OPTIONS.test(cause.message)) throw cause;
    // What would help is an option of another command.
    const how = `tranche data import ${name} --pair ${pair} --out ${pair}.arrow`;
    throw new OperatorError(
      cause.exit,
      `${cause.message}\n(an option of "data import": ${how} …, and then --data ${pair}=${pair}.arrow)`,
      cause,
    );
  }
}

/** Begins to read such a file, where it is quick to read; what is wrong with it `readTape` says. */
export async function beginRead({ pair, name, cwd, cacheFolder }: TapeFile): Promise<void> {
  await beginTape([name], { pair, cwd, cacheFolder });
}

const IMPORT_OPTIONS = /add --(?:bar|format|keep|max-size|sort|unit)\b/u;

/** A file with the prices of a pair, as `--data btcusd=FILE` names it. */
export interface NamedFile {
  readonly pair: string;
  readonly file: string;
}

/** Reads one `--data` of several. @throws OperatorError `usage`. */
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
