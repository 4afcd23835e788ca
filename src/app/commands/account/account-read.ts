import type { Observable } from 'rxjs';
import { after, DAY_MS, instant } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import {
  balanceColumns,
  currencyColumns,
  depositColumns,
  feeColumns,
  interestColumns,
  metricsColumns,
  modeColumns,
  pairColumns,
  positionColumns,
  rateColumns,
  tradeColumns,
  transactionColumns,
  usdOf,
  valuationColumns,
} from './account-columns.ts';
import { printOne, printRows, sparkline } from './account-print.ts';
import type { Column } from './account-print.ts';
import { answerOf, withAccount } from './account-session.ts';
import type { AccountIo, AccountOptions, Session } from './account-session.ts';

/** A read-only command. Returns exit code 0, or an exit code of `withAccount`. */
type Reading = (options: AccountOptions, io: AccountIo) => Promise<number>;

/** Returns a command that makes one call and prints the response as a list. */
const listing =
  <Row>(
    columns: readonly Column<Row>[],
    none: string,
    ask: (session: Session) => Observable<readonly Row[]>,
  ): Reading =>
  async (options, io) =>
    await withAccount(options, io, async (session) => {
      printRows(await answerOf(ask(session)), columns, { ...options, none, out: io.stdout });
      return 0;
    });

export const balances = listing(balanceColumns, 'The account has no balances.', ({ venue }) =>
  venue.balances(),
);
export const currencies = listing(currencyColumns, 'The account has no currencies.', ({ venue }) =>
  venue.currencies(),
);

export const pairs: Reading = async (options, io) =>
  await withAccount(options, io, async ({ venue }) => {
    const rows = Object.values(await answerOf(venue.pairs()));
    printRows(rows, pairColumns, { ...options, none: 'The venue lists no pairs.', out: io.stdout });
    return 0;
  });

export const fees: Reading = async (options, io) =>
  await withAccount(options, io, async ({ venue }) => {
    printOne(await answerOf(venue.fees()), feeColumns, { ...options, out: io.stdout });
    return 0;
  });

export interface TransactionsOptions extends AccountOptions {
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly limit?: number | undefined;
  readonly after?: number | undefined;
  readonly offset?: number | undefined;
  readonly types?: string | undefined;
  readonly pending?: boolean | undefined;
}

/** Prints one page of transactions, and how to get the next page. */
export async function transactions(options: TransactionsOptions, io: AccountIo): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const { from, to, limit, after: newerThan, offset, types, pending } = options;
    const rows = await answerOf(
      venue.transactions({ from, to, limit, after: newerThan, offset, types, pending }),
    );
    printRows(rows, transactionColumns, {
      ...options,
      none: `No transactions${from === undefined ? ' in the last 24 hours; use --from for older ones' : ''}.`,
      out: io.stdout,
    });
    // Spec: "if 500 were received, 501 gives the next batch".
    const next = Math.max(offset ?? 1, 1) + rows.length;
    if (rows.length >= (limit ?? DEFAULT_LIMIT)) io.stderr.write(`There may be more: --offset ${next}\n`);
    return 0;
  });
}

/** Spec: default of the transactions route. */
const DEFAULT_LIMIT = 250;

export interface TradesOptions extends AccountOptions {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

/** Prints one page of the account's own trades. */
export async function trades(options: TradesOptions, io: AccountIo): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const { data } = await answerOf(venue.trades({ limit: options.limit, after: options.after }));
    printRows(data, tradeColumns, { ...options, none: 'No trades.', out: io.stdout });
    return 0;
  });
}

export interface HistoryOptions extends AccountOptions {
  /** Default: 30 days ago, or one day with `hourly`. */
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly hourly?: boolean | undefined;
}

/** Prints the value of the portfolio over time, with a line of bars for people. */
export async function history(options: HistoryOptions, io: AccountIo): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const isHourly = options.hourly === true;
    const from = options.from ?? after(io.now, isHourly ? -DAY_MS : -30 * DAY_MS);
    const { data } = await answerOf(
      venue.history({ from: instant(Math.floor(from)), to: options.to, interval: isHourly ? 3600 : 86400 }),
    );
    const points = data
      .toSorted((a, b) => a.at - b.at)
      .map(({ at, usd }, index, all) => ({ at, usd, before: all[index - 1] }));
    printRows(points, valuationColumns, { ...options, none: 'No values in this period.', out: io.stdout });
    if (options.json !== true && options.csv !== true && points.length > 0) {
      io.stdout.write(`\n${sparkline(points.map(usdOf))}\n`);
    }
    return 0;
  });
}

export interface DepositAddressOptions extends AccountOptions {
  readonly new?: boolean | undefined;
}

/** Prints the deposit addresses of a currency; with `new`, creates one more. */
export async function depositAddress(
  currency: string,
  options: DepositAddressOptions,
  io: AccountIo,
): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const rows =
      options.new === true
        ? [await answerOf(venue.newDepositAddress(currency))]
        : await answerOf(venue.depositAddresses(currency));
    printRows(rows, depositColumns, {
      ...options,
      none: 'No address yet; create one with --new.',
      out: io.stdout,
    });
    return 0;
  });
}

export const ptsRates: Reading = async (options, io) =>
  await withAccount(options, io, async ({ venue }) => {
    const rates = Object.entries(await answerOf(venue.ptsRates())).map(([currency, rate]) => ({
      currency,
      annualRate: rate.interest_rate,
      graceMinutes: rate.interest_grace_period_minutes,
      frequencyMinutes: rate.interest_frequency_minutes,
    }));
    printRows(rates, rateColumns, { ...options, none: 'No rates.', out: io.stdout });
    return 0;
  });

export const ptsModes: Reading = async (options, io) =>
  await withAccount(options, io, async ({ venue }) => {
    const { data } = await answerOf(venue.ptsModes());
    const modes = data.map((row) => ({ pair: row.currency_pair, mode: row.risk_mode ?? 'unknown' }));
    printRows(modes, modeColumns, { ...options, none: 'No risk modes.', out: io.stdout });
    return 0;
  });

export const ptsMetrics: Reading = async (options, io) =>
  await withAccount(options, io, async ({ venue }) => {
    printOne(await answerOf(venue.ptsMetrics()), metricsColumns, { ...options, out: io.stdout });
    return 0;
  });

export interface PositionsOptions extends AccountOptions {
  readonly closed?: boolean | undefined;
  readonly pair?: string | undefined;
}

export async function ptsPositions(options: PositionsOptions, io: AccountIo): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const status = options.closed === true ? 'closed' : undefined;
    const rows = await answerOf(venue.ptsPositions({ status, pair: options.pair }));
    printRows(rows, positionColumns, { ...options, none: 'No positions on credit.', out: io.stdout });
    return 0;
  });
}

export async function ptsInterest(
  options: AccountOptions & { readonly limit?: number | undefined },
  io: AccountIo,
): Promise<number> {
  return await withAccount(options, io, async ({ venue }) => {
    const { payments } = await answerOf(venue.ptsInterest({ limit: options.limit }));
    printRows(payments, interestColumns, { ...options, none: 'No interest was charged.', out: io.stdout });
    return 0;
  });
}
