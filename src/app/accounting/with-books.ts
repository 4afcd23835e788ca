import { openNamed } from '../commands/journal/journal-read.ts';
import type { CommandIo } from '../commands/io.ts';
import type { Instant } from '../../core/time.ts';
import { loadAccounting } from './accounting-settings.ts';
import { makeBooks } from './books.ts';
import type { Books, BooksOptions } from './books.ts';

export interface AccountingOptions {
  readonly file?: string | undefined;
  readonly config: string;
  /** The settings of the books. */
  readonly books: string;
  readonly from?: Instant | undefined;
  readonly until?: Instant | undefined;
  readonly out?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Makes the books that the options name. Warns if their fills do not belong to a real account. @throws OperatorError */
export function withBooks<T>(
  options: AccountingOptions,
  io: CommandIo,
  use: (books: Books) => T,
  how: Omit<BooksOptions, 'now'> = {},
): T {
  const settings = loadAccounting(options.books, { env: io.env, cwd: io.cwd });
  const { journal } = openNamed(options, io);
  try {
    const books = makeBooks(journal, settings, { now: io.now, ...how });
    sayMode(books, io);
    return use(books);
  } finally {
    journal.close();
  }
}

/** Warns if the books' fills do not belong to a real account. */
export function sayMode({ modes }: Pick<Books, 'modes'>, io: CommandIo): void {
  const others = modes.filter((mode) => mode !== 'live');
  if (others.length > 0)
    io.stderr.write(
      `This journal was written in mode ${others.join(', ')}: its fills are not trades of a real account.\n`,
    );
}
