import { firstValueFrom } from 'rxjs';
import { OperatorError } from '../../core/errors.ts';
import type { ClosingRecord } from '../../core/record.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { toObservable } from '../../engine/maybe-async.ts';
import { closingFault } from '../../engine/operator/close-books.ts';
import { withDesk } from '../../journal/postgres/postgres-url.ts';
import { openJournal } from '../../journal/open-journal.ts';
import { ask, locate, tell } from '../commands/desk/daemon-client.ts';
import { whoami } from '../commands/io.ts';
import type { CommandIo } from '../commands/io.ts';
import { differencesOf } from './closings.ts';
import { ZonedDays, dateText } from '../../accounting/zoned-days.ts';
import { loadAccounting, methodAt } from './accounting-settings.ts';
import { balanceRows, inPeriod, makeBooks } from './books.ts';
import type { BalanceRow, Books } from './books.ts';
import { sayMode } from './with-books.ts';
import type { AccountingOptions } from './with-books.ts';

export interface CloseOptions extends AccountingOptions {
  /** First instant after the period. */
  readonly until: Instant;
  readonly why?: string | undefined;
  readonly by?: string | undefined;
  /** Reason to close the period although books and account differ, or are not compared. */
  readonly unreconciled?: string | undefined;
  readonly dryRun?: boolean | undefined;
  /** PostgreSQL of a fleet: the owner of `desk` writes the record, wherever it runs. */
  readonly store?: string | undefined;
  readonly desk?: string | undefined;
}

/**
 * Closes the period after the last closed one: writes its hash to the journal, through the daemon if the desk is
 * running, otherwise directly. Exit codes: 0, 75 when the desk refuses.
 *
 * @throws OperatorError `usage` for a period that cannot be closed, `data` for books that differ from the account or
 * from a closed period, `again` while another process writes the journal.
 */
export async function closeBooks(options: CloseOptions, io: CommandIo): Promise<number> {
  const settings = loadAccounting(options.books, { env: io.env, cwd: io.cwd });
  const { store, desk, config } = options;
  const { journal: url, control } = locate({ config, journal: journalOf(options) }, io);
  const journal = openJournal(url, { readOnly: true });
  let record: ClosingRecord;
  try {
    const books = makeBooks(journal, settings, { now: io.now, until: options.until });
    sayMode(books, io);
    record = closingOf(books, options, io);
  } finally {
    journal.close();
  }
  const { until, entries, method, hash, head } = record;
  const facts = [
    `${entries} entries by ${method}, made from record ${head.seq} of the chain with hash ${head.hash}`,
    `hash ${hash}`,
    ...(method === 'pool'
      ? ['purchases of the next 30 days can still change the gains of its disposals, in the open period']
      : []),
  ];
  if (options.dryRun === true) {
    tell(io, options.json, record, [`would close the books until ${isoOf(until)}`, ...facts]);
    return 0;
  }
  if (store === undefined && control?.url === undefined) await append(url, record, io);
  else {
    const { kind: _, by: _by, why, ...closing } = record;
    const told = { why, by: options.by ?? whoami(io), closing };
    if (JSON.stringify(told).length > BODY_MAX)
      throw new OperatorError(
        'usage',
        '--until: the period has too many movements to close while the desk runs: close it in parts, or stop the desk first',
      );
    const { status, body } = await ask(
      store === undefined ? { config, journal: url } : { config, store, desk },
      io,
      {
        path: '/api/v1/accounting/close',
        body: told,
      },
    );
    if (status !== 200) {
      io.stderr.write(`refused: ${String(body['says'])}\n`);
      return REFUSED;
    }
  }
  tell(io, options.json, record, [`the books are closed up to ${isoOf(until)}`, ...facts]);
  return 0;
}

const REFUSED = 75;
/** Largest request body that the API reads, in characters. */
const BODY_MAX = 16_000;

/** Returns the journal that the options select, by its name or by the name of a fleet's desk. */
function journalOf({ file, store, desk }: CloseOptions): string | undefined {
  if (store === undefined && desk === undefined) return file;
  if (store === undefined || desk === undefined || file !== undefined)
    throw new OperatorError(
      'usage',
      '--store and --desk together select the journal: omit the journal argument',
    );
  return withDesk(store, desk);
}

/** Returns the record of a closing. @throws OperatorError if the books do not allow it */
function closingOf(books: Books, options: CloseOptions, io: CommandIo): ClosingRecord {
  const { until } = options;
  const from = books.closings.at(-1)?.until;
  const why = options.why ?? 'the period is over';
  const by = options.by ?? whoami(io);
  const fault = closingFault({ from, until, by, why }, from, io.now);
  const problem = fault ?? periodFault(books.settings, from, until);
  if (problem !== undefined) throw new OperatorError('usage', `--until: ${problem}`);
  const balances = books.balancesAt(until);
  const rows = balanceRows({ entries: inPeriod(books.entries, { until }), balances });
  const unreconciled = unreconciledOf(rows, balances !== undefined, options);
  const period = books.periods.results.at(-1);
  if (period === undefined) throw new Error('the period has no hash');
  if (period.transactions.length > TRANSACTIONS_MAX)
    throw new OperatorError(
      'usage',
      `--until: the period has more than ${TRANSACTIONS_MAX} movements: close it in parts`,
    );
  const { currency, jurisdiction, hash: settings } = books.settings;
  return {
    kind: 'closing',
    ...(from === undefined ? {} : { from }),
    until,
    currency,
    method: methodAt(books.settings, instant(until - 1)),
    ...(jurisdiction === undefined ? {} : { jurisdiction }),
    entries: period.entries,
    hash: period.hash,
    head: books.head,
    transactions: differencesOf(period.transactions),
    settings,
    ...(unreconciled === undefined ? {} : { unreconciled }),
    by,
    why,
  };
}

/** Largest number of transactions of a period, so that a reader can load its record immediately. */
const TRANSACTIONS_MAX = 50_000;

/** Explains why the settings do not allow this period; `undefined` when they do. */
function periodFault(
  { earlierMethods, method, timeZone }: Books['settings'],
  from: Instant | undefined,
  until: Instant,
): string | undefined {
  const change = earlierMethods.find((each) => each.until > (from ?? 0) && each.until < until);
  if (change !== undefined)
    return `the method changes at ${isoOf(change.until)}: close the period before that time first`;
  const days = new ZonedDays(timeZone);
  const begin = days.endOf(days.dayOf(until) - 1);
  if (method === 'pool' && begin !== until)
    return `share pooling counts whole days of ${timeZone}: name a midnight there, such as ${dateText(days.dayOf(until))}T00:00:00[${timeZone}]`;
  return undefined;
}

function unreconciledOf(
  rows: readonly BalanceRow[],
  isCompared: boolean,
  { until, unreconciled: why, books }: CloseOptions,
): ClosingRecord['unreconciled'] {
  const off = rows.filter(({ difference }) => difference !== '0' && difference !== undefined);
  if (isCompared && off.length === 0) return undefined;
  const differences = Object.fromEntries(off.map(({ currency, difference = '' }) => [currency, difference]));
  if (why !== undefined) return { why, differences };
  const what = isCompared
    ? `the books until ${isoOf(until)} differ from the account: ${off.map(({ currency, difference }) => `${difference} ${currency}`).join(', ')}`
    : `the books are not compared with the account: ${books} has no history`;
  throw new OperatorError(
    'data',
    `${what}. Run tranche account sync and correct the settings, or close anyway with --unreconciled and a reason, which the journal records`,
  );
}

/** Appends the record to the journal of a desk that does not run, as its only writer. */
async function append(url: string, record: ClosingRecord, io: CommandIo): Promise<void> {
  const journal = openJournal(url);
  try {
    const [last] = journal.select({ kinds: ['closing'], order: 'newest' });
    const closedUntil = last?.body.kind === 'closing' ? last.body.until : undefined;
    const fault = closingFault(record, closedUntil, io.now);
    if (fault !== undefined) throw new OperatorError('again', fault);
    await firstValueFrom(toObservable(journal.append([record], io.now)));
  } finally {
    journal.close();
  }
}
