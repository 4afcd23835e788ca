import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../core/errors.ts';
import { createPrivate } from './sqlite/files.ts';

/**
 * A copy of the account's transactions in a separate file beside the journal. The journal records what this program
 * did; this file copies the venue's rows, and can be downloaded again.
 */
export interface HistoryStore {
  /** Progress of the download. */
  progress(): Progress;
  /** Stores the rows of one page and the new progress together, or neither. Returns the counts of the page. */
  keep(rows: readonly HistoryRow[], progress: Progress): Kept;
  /** Records when a request was made, so that the next run respects the venue's rate limit. Unix ms. */
  noteRequest(at: number): void;
  lastRequestAt(): number;
  count(): number;
  /** Time and id of the newest row. */
  newest(): { readonly id: number; readonly at: number } | undefined;
  /**
   * Sorted by time and then by id, or by id alone. `balanceOrder` determines in which of these two orders the balances
   * follow from one another.
   */
  rows(order?: RowOrder): Iterable<HistoryRow>;
  close(): void;
}

/** One transaction. Amounts are text, digit for digit. Scripts rely on the names and their order. */
export const HISTORY_COLUMNS = [
  'id', 'at', 'action', 'currency', 'amount', 'price', 'fees', 'transfer_fee', 'balance', 'status', 'pair', 'order_id',
  'client_order_id', 'trade_id', 'account_transaction_id', 'algorithm', 'algorithm_id', 'tx_hash', 'memo', 'hold_expires',
  'wallet', 'added_by', 'description',
] as const; // prettier-ignore

type TextColumn = Exclude<(typeof HISTORY_COLUMNS)[number], 'id' | 'at'>;
/** Fields that the venue omits are empty text. */
export type HistoryRow = { readonly id: number; /** Unix ms. */ readonly at: number } & Readonly<
  Record<TextColumn, string>
>;

export type RowOrder = 'time' | 'id';

/** A pass through the pages from the newest row of a period to its oldest; `undefined`: no pass is in progress. */
export interface Walk {
  /** Unix ms. */
  readonly from: number;
  readonly to: number;
  /** Rows received so far. */
  readonly offset: number;
}
export interface Progress {
  /** Everything up to this time is stored, apart from pending rows. Unix ms; 0 before the first pass is done. */
  readonly completeTo: number;
  readonly walk: Walk | undefined;
}

export interface Kept {
  readonly added: number;
  /** Number of stored rows that arrived again with another status or remark. */
  readonly changed: number;
  /** Pending rows replaced by completed ones. */
  readonly replaced: number;
}

/** "TrHi" */
const APPLICATION_ID = 0x54_72_48_69;
const VERSION = 1;
const TEXTS = HISTORY_COLUMNS.filter((name) => name !== 'id' && name !== 'at');

const SCHEMA = `
  CREATE TABLE transactions (
    id INTEGER PRIMARY KEY,  -- of the venue
    at INTEGER NOT NULL,     -- Unix ms
    ${TEXTS.map((name) => `${name} TEXT NOT NULL`).join(',\n    ')}
  ) STRICT;
  CREATE INDEX by_time ON transactions (at, id);
  CREATE INDEX by_account_transaction ON transactions (account_transaction_id);
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

/**
 * Opens or creates the store of one account. `account` identifies it: a digest of URL and token.
 *
 * @throws OperatorError `data` when the file is not such a store, `config` when it belongs to another account,
 * `storage`.
 */
export function openHistory(
  file: string,
  { account, accountChanged }: { readonly account?: string | undefined; readonly accountChanged?: boolean },
): HistoryStore {
  const db = openFile(file, account !== undefined);
  try {
    prepare(db, file);
    if (account !== undefined) db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
    if (account !== undefined) checkOwner(db, { file, account, accountChanged: accountChanged === true });
    return storeOf(db, file, account);
  } catch (error) {
    db.close();
    throw error;
  }
}

function openFile(file: string, isWriter: boolean): DatabaseSync {
  try {
    if (isWriter) createPrivate(file);
    return new DatabaseSync(file, { timeout: 5_000, readOnly: !isWriter });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new OperatorError(
      'storage',
      `the history ${file} cannot be opened: ${why}${isWriter ? '' : '. "tranche account sync" creates one.'}`,
      cause,
    );
  }
}

function prepare(db: DatabaseSync, file: string): void {
  const pragma = (name: string): unknown => db.prepare(`PRAGMA ${name}`).get()?.[name];
  try {
    if (db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined) {
      db.exec(`BEGIN IMMEDIATE;${SCHEMA}COMMIT`);
    }
    if (pragma('application_id') === APPLICATION_ID && pragma('user_version') === VERSION) return;
  } catch (cause) {
    throw new OperatorError(
      'data',
      `${file} was not written by tranche account sync: name another file`,
      cause,
    );
  }
  throw new OperatorError(
    'data',
    `${file} is not an account history that this version can read: name another file`,
  );
}

function checkOwner(
  db: DatabaseSync,
  { file, account, accountChanged }: { file: string; account: string; accountChanged: boolean },
): void {
  const owner = readMeta(db, 'account');
  if (owner !== undefined && owner !== account && !accountChanged) {
    throw new OperatorError(
      'config',
      `${file} was written with another venue URL or token. If it is the same account, add --account-changed; otherwise use another --store.`,
    );
  }
}

function readMeta(db: DatabaseSync, key: string): string | undefined {
  const value = db.prepare('SELECT value FROM meta WHERE key = ?').get(key)?.['value'];
  return typeof value === 'string' ? value : undefined;
}

function writeMeta(db: DatabaseSync, key: string, value: string): void {
  db.prepare(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  ).run(key, value);
}

const DONE = 'done';
/** Fields of a transaction that never change. If one differs, the row belongs to another account, or the venue rewrote it. */
const FIXED = ['action', 'currency', 'order_id', 'trade_id'] as const;

function storeOf(db: DatabaseSync, file: string, account: string | undefined): HistoryStore {
  const find = db.prepare('SELECT * FROM transactions WHERE id = ?');
  const insert = db.prepare(
    `INSERT OR REPLACE INTO transactions (${HISTORY_COLUMNS.join(', ')}) VALUES (${HISTORY_COLUMNS.map(() => '?').join(', ')})`,
  );
  // Beyond the spec, 9.4, and seen at the simulated venue: a settled row may have a new id, but it keeps its account
  // transaction id.
  const supersede = db.prepare(
    `DELETE FROM transactions WHERE account_transaction_id = ? AND account_transaction_id <> '' AND id <> ? AND lower(status) <> '${DONE}'`,
  );
  const keepRow = (row: HistoryRow): Kept => {
    const before = find.get(row.id);
    const differs = (name: (typeof HISTORY_COLUMNS)[number]): boolean => before?.[name] !== row[name];
    if (before !== undefined && FIXED.some(differs)) {
      throw new OperatorError(
        'data',
        `transaction ${row.id} differs from its copy in ${file}: is this another account? No row of this page was stored.`,
      );
    }
    const replaced =
      row.status.toLowerCase() === DONE
        ? Number(supersede.run(row.account_transaction_id, row.id).changes)
        : 0;
    const isChanged = before !== undefined && HISTORY_COLUMNS.some(differs);
    if (before === undefined || isChanged) insert.run(...HISTORY_COLUMNS.map((name) => row[name]));
    return { added: before === undefined ? 1 : 0, changed: isChanged ? 1 : 0, replaced };
  };

  return {
    progress: () => progressOf(readMeta(db, 'progress')),
    keep(rows, progress) {
      db.exec('BEGIN IMMEDIATE');
      try {
        const kept = rows.map(keepRow);
        writeMeta(db, 'progress', JSON.stringify(progress));
        // Deferred until now, because a token that the venue does not know must not claim the file.
        if (account !== undefined) writeMeta(db, 'account', account);
        db.exec('COMMIT');
        const sum = (key: keyof Kept): number => kept.reduce((total, each) => total + each[key], 0);
        return { added: sum('added'), changed: sum('changed'), replaced: sum('replaced') };
      } catch (error) {
        db.exec('ROLLBACK');
        throw error;
      }
    },
    noteRequest: (at) => writeMeta(db, 'last_request_at', String(at)),
    lastRequestAt: () => Number(readMeta(db, 'last_request_at') ?? 0),
    count: () => Number(db.prepare('SELECT count(*) AS n FROM transactions').get()?.['n']),
    newest() {
      const row = db.prepare('SELECT id, at FROM transactions ORDER BY at DESC, id DESC LIMIT 1').get();
      return row === undefined ? undefined : { id: Number(row['id']), at: Number(row['at']) };
    },
    *rows(order = 'time') {
      const by = order === 'time' ? 'at, id' : 'id';
      for (const row of db.prepare(`SELECT * FROM transactions ORDER BY ${by}`).iterate()) yield rowOf(row);
    },
    close: () => db.close(),
  };
}

function rowOf(row: Readonly<Record<string, unknown>>): HistoryRow {
  const texts = Object.fromEntries(TEXTS.map((name) => [name, String(row[name])]));
  return { id: Number(row['id']), at: Number(row['at']), ...(texts as Record<TextColumn, string>) }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- all the text columns
}

function progressOf(text: string | undefined): Progress {
  if (text === undefined) return { completeTo: 0, walk: undefined };
  const value = JSON.parse(text) as Progress; // oxlint-disable-line typescript/no-unsafe-type-assertion -- written by `keep` alone
  return { completeTo: value.completeTo, walk: value.walk };
}
