import { OperatorError, exitCodes } from '../../core/errors.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { CommandIo } from '../commands/io.ts';
import { differenceOf } from './closed-periods.ts';
import { withBooks } from './with-books.ts';
import type { AccountingOptions } from './with-books.ts';
import { jsonLines, writeLines } from './write-lines.ts';

export interface VerifyOptions extends AccountingOptions {
  /** End of a period, closed or not, whose text the command prints instead. */
  readonly print?: Instant | undefined;
}

/**
 * Rebuilds the books and compares the hash of each closed period with the journal. Exit code 65 when a hash differs; names the first
 * such period.
 *
 * @throws OperatorError
 */
export function verifyBooks(options: VerifyOptions, io: CommandIo): number {
  const { print } = options;
  if (print !== undefined) return printPeriod(print, options, io);
  return withBooks(
    options,
    io,
    ({ entries, periods }) => {
      Array.from(entries, () => undefined); // the periods hash the entries as they pass
      const { results } = periods;
      if (options.json === true)
        writeLines(
          jsonLines(
            results.map((result) => ({
              until: isoOf(result.until),
              record: result.closing?.seq,
              entries: result.entries,
              hash: result.hash,
              is_same: differenceOf(result) === undefined,
            })),
          ),
          undefined,
          io,
        );
      else
        for (const result of results)
          io.stdout.write(
            `${isoOf(result.until)}  record ${result.closing?.seq ?? 0}  ${result.entries} entries  ${result.hash}  ${differenceOf(result) === undefined ? 'same' : 'differs'}\n`,
          );
      if (results.length === 0) io.stderr.write('No period is closed.\n');
      const first = results.map(differenceOf).find((difference) => difference !== undefined);
      if (first === undefined) return 0;
      io.stderr.write(`${first}.\n`);
      return exitCodes.data;
    },
    { isLenient: true },
  );
}

/** Prints the text whose SHA-256 is the hash of the period that ends at `end`. */
function printPeriod(end: Instant, options: VerifyOptions, io: CommandIo): number {
  return withBooks(
    options,
    io,
    ({ entries, closings }) => {
      Array.from(entries, () => undefined);
      const last = closings.at(-1)?.until ?? 0;
      if (end <= last && !closings.some(({ until }) => until === end))
        throw new OperatorError(
          'usage',
          `--print: no period ends at ${isoOf(end)}; closed periods end at ${closings.map(({ until }) => isoOf(until)).join(', ')}`,
        );
      return 0;
    },
    {
      isLenient: true,
      until: end,
      onLine: (line, until) => {
        if (until === end) io.stdout.write(line);
      },
    },
  );
}
