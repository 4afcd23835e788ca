import type { Tape } from '../../../research/tape/tape.ts';
import { OperatorError } from '../../../core/errors.ts';
import type { Instant } from '../../../core/time.ts';
import type { Journal } from '../../../journal/journal.ts';
import { openJournal } from '../../../journal/open-journal.ts';
import { readSince, zoneHere } from '../../cli/local-time.ts';
import { readName, readTape } from '../../research/tape-file.ts';
import { TAPES } from '../../cli/options.ts';
import type { JournalOptions } from '../../cli/options.ts';
import { locate } from '../desk/daemon-client.ts';
import type { CommandIo } from '../io.ts';

/**
 * Opens the journal that the options or their config name, for reading. The desk may be running. The caller closes the journal.
 *
 * @throws OperatorError for a journal that does not exist or cannot be read.
 */
export function openNamed(
  { file, ...options }: JournalOptions,
  io: CommandIo,
): { url: string; journal: Journal } {
  if (file !== undefined && options.journal !== undefined)
    throw new OperatorError('usage', 'the journal is given twice: omit --journal');
  const { journal: url } = locate({ ...options, journal: file ?? options.journal }, io);
  if (url === 'memory:')
    throw new OperatorError(
      'config',
      'this config keeps its journal in memory only, so there is nothing to read',
    );
  return { url, journal: openJournal(url, { readOnly: true }) };
}

interface Span {
  readonly since: Instant | undefined;
  readonly until: Instant | undefined;
}

/** Reads `--since` and `--until`. @throws OperatorError `usage` for an invalid time, or a span that ends before it begins. */
export function readSpan(
  told: { readonly since?: string | undefined; readonly until?: string | undefined },
  { now }: CommandIo,
): Span {
  const zone = zoneHere();
  const timeOf = (text: string | undefined, option: string): Instant | undefined =>
    text === undefined ? undefined : readSince(text, { option, now, zone });
  const [since, until] = [timeOf(told.since, '--since'), timeOf(told.until, '--until')];
  if (since !== undefined && until !== undefined && until <= since)
    throw new OperatorError('usage', '--until must be after --since');
  return { since, until };
}

/** Reads the tapes that `--data` names. */
export async function readTapes(
  {
    data = [],
    cache = TAPES,
  }: { readonly data?: readonly string[] | undefined; readonly cache?: string | undefined },
  { cwd }: CommandIo,
): Promise<readonly Tape[]> {
  const tapes: Tape[] = [];
  for (const { pair, file } of data.map(readName))
    tapes.push(await readTape({ pair, name: file, cwd, cacheFolder: cache }));
  return tapes;
}
