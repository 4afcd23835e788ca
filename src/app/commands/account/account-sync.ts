import { resolve } from 'node:path';
import { firstValueFrom, timer } from 'rxjs';
import { exitCodes, VenueError } from '../../../core/errors.ts';
import { escapeMarks } from '../../../core/text/escape.ts';
import { digest } from '../../../core/ids.ts';
import { text } from '../../../core/money.ts';
import { DAY_MS, instant, isoOf } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import { csvRow } from '../../../journal/export.ts';
import { balanceOrder } from '../../../journal/history-gaps.ts';
import { HISTORY_COLUMNS, openHistory } from '../../../journal/account-history.ts';
import type { HistoryRow, HistoryStore, Walk } from '../../../journal/account-history.ts';
import type { TransactionDetail } from '../../../wire/account.ts';
import { answerOf, withAccount } from './account-session.ts';
import type { AccountIo, AccountOptions, Session } from './account-session.ts';
import type { CommandIo } from '../io.ts';

export interface SyncOptions extends AccountOptions {
  /** File of the store, relative to the working directory. */
  readonly store: string;
  /** Start of the history; default: the first transaction. */
  readonly from?: Instant | undefined;
  readonly accountChanged?: boolean | undefined;
}

/** Rate limit of the route. Spec: 1 request per 10 s, at most 1000 rows. */
export interface SyncPace {
  readonly gapMs: number;
  readonly pageRows: number;
}
/** A quarter of a second longer than the rate limit, because the client and the venue measure from different instants. */
const SPEC_PACE: SyncPace = { gapMs: 10_250, pageRows: 1_000 };
/** Period that every run reads again, because pending withdrawals and deposits change, and the venue may book rows late. */
const OVERLAP_MS = 30 * DAY_MS;
/** Maximum number of waits for the rate limit. A daemon that reads the same route competes for it. */
const RATE_LIMITED_MAX = 12;

/**
 * Downloads the account's transactions that are not stored yet. It can be stopped safely at any time; the next run
 * resumes the download. Exit codes: 0, 65 when balances do not follow from one another, and those of `withAccount`.
 */
export async function sync(options: SyncOptions, io: AccountIo, pace: SyncPace = SPEC_PACE): Promise<number> {
  return await withAccount(options, io, async (session) => {
    const account = digest(`${session.baseUrl}\n${session.token.reveal()}`, 26);
    const store = openHistory(resolve(io.cwd, options.store), {
      account,
      accountChanged: options.accountChanged ?? false,
    });
    try {
      await download(session, { store, options, io, pace });
      return report(store, options, io);
    } finally {
      store.close();
    }
  });
}

interface Download {
  readonly store: HistoryStore;
  readonly options: SyncOptions;
  readonly io: AccountIo;
  readonly pace: SyncPace;
}

/** Completes the download that an earlier run left unfinished, then downloads everything since. */
async function download(session: Session, world: Download): Promise<void> {
  const { store, options, io } = world;
  const left = store.progress().walk;
  if (left !== undefined) {
    io.stderr.write(`Resuming an earlier run after ${left.offset} rows.\n`);
    await follow(left, session, world);
  }
  const { completeTo } = store.progress();
  const start = options.from ?? 0;
  const from = completeTo === 0 ? start : Math.max(start, completeTo - OVERLAP_MS);
  await follow({ from, to: io.clock.wall(), offset: 0 }, session, world);
}

/** Overlap of two pages, in rows. */
const OVERLAP_ROWS = 10;

/**
 * Returns the start of the next page. The specification counts rows from one ("500 received: 501 gives the next
 * batch"), other documents count from zero, and a finished withdrawal shifts the rows after it. Pages therefore
 * overlap, so that the download may read a row twice but misses none.
 */
const startOf = ({ offset }: Walk): number => Math.max(0, offset - OVERLAP_ROWS);

/** Reads all pages of one download. */
async function follow(begun: Walk, session: Session, world: Download): Promise<void> {
  const { store, io, pace } = world;
  const { from, to } = begun;
  let walk = begun;
  for (;;) {
    const page = await readPage(walk, session, world);
    const offset = startOf(walk) + page.length;
    const seen = store.count();
    const isLast = page.length < pace.pageRows;
    const { completeTo } = store.progress();
    const kept = store.keep(
      page.map(rowOf),
      isLast
        ? { completeTo: Math.max(completeTo, walk.to), walk: undefined }
        : { completeTo, walk: { from, to, offset } },
    );
    const oldest = page.at(-1);
    io.stderr.write(
      `${page.length} rows${oldest === undefined ? '' : ` back to ${isoOf(oldest.at)}`}: ${kept.added} new, ${kept.changed} changed, ${seen + kept.added - kept.replaced} in all\n`,
    );
    if (isLast) return;
    walk = { from, to, offset };
  }
}

async function readPage(
  walk: Walk,
  session: Session,
  { store, io, pace }: Download,
): Promise<readonly TransactionDetail[]> {
  for (let refusals = 0; ; refusals++) {
    await pause(store.lastRequestAt() + pace.gapMs - io.clock.wall(), io);
    store.noteRequest(io.clock.wall());
    try {
      return await answerOf(
        session.venue.transactions({
          from: instant(walk.from),
          to: instant(walk.to),
          limit: pace.pageRows,
          offset: startOf(walk) === 0 ? undefined : startOf(walk),
          pending: true,
        }),
      );
    } catch (error) {
      const isLimited = error instanceof VenueError && error.code === 'rate_limited';
      if (!isLimited || refusals >= RATE_LIMITED_MAX) throw error;
      await pause(error.retryAfterMs ?? pace.gapMs, io);
    }
  }
}

async function pause(ms: number, { clock }: AccountIo): Promise<void> {
  // If the clock was set back, the command must not wait for days.
  if (ms > 0) await firstValueFrom(timer(Math.min(ms, 300_000), clock.scheduler));
}

const rowOf = (row: TransactionDetail): HistoryRow => ({
  id: row.id,
  at: row.at,
  action: row.action,
  currency: row.currency,
  amount: text(row.amount),
  price: row.price === undefined ? '' : text(row.price),
  fees: text(row.fees),
  transfer_fee: text(row.transferFee),
  balance: text(row.balance),
  status: row.status,
  pair: row.pair ?? '',
  order_id: row.orderId ?? '',
  client_order_id: row.clientId ?? '',
  trade_id: row.tradeId ?? '',
  account_transaction_id: row.accountTransactionId,
  algorithm: row.algorithm,
  algorithm_id: row.algorithmId,
  tx_hash: row.txHash,
  memo: row.memo,
  hold_expires: row.holdExpires,
  wallet: row.wallet,
  added_by: row.addedBy,
  description: row.description,
});

const GAPS_SHOWN = 20;

function report(store: HistoryStore, { from, json }: SyncOptions, { stdout, stderr }: CommandIo): number {
  const { gaps } = balanceOrder(store, { isFromStart: from === undefined });
  const transactions = store.count();
  const completeTo = isoOf(instant(store.progress().completeTo));
  if (json === true) stdout.write(`${JSON.stringify({ transactions, complete_to: completeTo, gaps })}\n`);
  else stdout.write(`${transactions} transactions, complete to ${completeTo}.\n`);
  if (gaps.length === 0) return 0;
  stderr.write(`Balances are inconsistent in ${gaps.length} places:\n`);
  for (const gap of gaps.slice(0, GAPS_SHOWN)) {
    stderr.write(
      `  ${gap.currency}: ${gap.from} before transaction ${gap.id} of ${gap.amount}, ${gap.to} after it; ${gap.missing} is unexplained\n`,
    );
  }
  return exitCodes.data;
}

export interface HistoryExportOptions {
  readonly store: string;
  readonly format: 'csv' | 'jsonl' | 'parquet';
  /** File to write, relative to the working directory; for Parquet only, which requires it. */
  readonly out?: string | undefined;
}

/**
 * Writes the downloaded transactions, oldest first. In CSV and JSONL, amounts are text with every digit.
 *
 * @throws OperatorError `storage` when the store or the file fails.
 */
export async function exportHistory(
  { store: file, format, out }: HistoryExportOptions,
  io: CommandIo,
): Promise<number> {
  if ((format === 'parquet') !== (out !== undefined)) {
    io.stderr.write(
      format === 'parquet'
        ? 'Parquet is a binary format: name the output file with --out FILE.\n'
        : `--out is for Parquet only; ${format} goes to standard output: redirect with "> FILE".\n`,
    );
    return exitCodes.usage;
  }
  const store = openHistory(resolve(io.cwd, file), {});
  try {
    if (out !== undefined) {
      // Loaded here because no other command needs it.
      const { writeParquet } = await import('./account-parquet.ts');
      await writeParquet(resolve(io.cwd, out), store.rows());
      io.stderr.write(`${store.count()} transactions written to ${out}.\n`);
      return 0;
    }
    if (format === 'csv')
      io.stdout.write(csvRow(HISTORY_COLUMNS.map((name) => (name === 'at' ? 'time' : name))));
    for (const row of store.rows()) {
      const time = isoOf(instant(row.at));
      io.stdout.write(
        format === 'csv'
          ? csvRow(HISTORY_COLUMNS.map((name) => (name === 'at' ? time : row[name])))
          : `${escapeMarks(JSON.stringify({ id: row.id, time, ...texts(row) }))}\n`,
      );
    }
    return 0;
  } finally {
    store.close();
  }
}

/** Returns the text columns in order, and omits values that the venue omits. */
const texts = (row: HistoryRow): object =>
  Object.fromEntries(
    HISTORY_COLUMNS.filter((name) => name !== 'id' && name !== 'at' && row[name] !== '').map((name) => [
      name,
      row[name],
    ]),
  );
