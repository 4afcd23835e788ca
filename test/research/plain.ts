import type { Tape } from '../../src/research/tape/tape.ts';
import type { StoredRecord } from '../../src/core/record.ts';

/**
 * The results of schedules over a tape, computed only with integers and without code of the engine. Prices and
 * quantities count in 1e-8.
 */

const UNIT = 10n ** 8n;
/** A cent, in 1e-16. */
const CENT = 10n ** 14n;

/** A trade of plain arithmetic or of the journal, with quantity and amount in plain decimals. */
export interface PlainTrade {
  /** The instant at which it was due. */
  readonly due: number;
  readonly quantity: string;
  readonly amount: string;
}

/** The close that is known at an instant: that of the last bar that has ended. */
export function knownClose({ times, barMs, close }: Tape, at: number): bigint {
  let row = lastSeen;
  if ((times[row] ?? Infinity) + barMs > at) row = 0;
  while ((times[row + 1] ?? Infinity) + barMs <= at) row++;
  lastSeen = row;
  return whole(String(close[row]));
}

/** The last position read, because the instants of a schedule only increase. */
let lastSeen = 0;

/** Buys `total` in equal parts; the last part is the remainder. Money is rounded up to the cent. */
export function plainTwap(
  tape: Tape,
  {
    total,
    slices,
    startsAt,
    everyMs,
  }: { readonly total: string; readonly slices: number; readonly startsAt: number; readonly everyMs: number },
): readonly PlainTrade[] {
  const all = whole(total);
  const each = all / BigInt(slices);
  return Array.from({ length: slices }, (_, k) => {
    const due = startsAt + k * everyMs;
    const quantity = k < slices - 1 ? each : all - each * BigInt(slices - 1);
    return { due, quantity: plainText(quantity), amount: centsText(quantity * knownClose(tape, due)) };
  });
}

/** Spends the same amount of cents at each of these instants; the bought quantity is rounded down. */
export const plainDca = (tape: Tape, cents: bigint, dues: readonly number[]): readonly PlainTrade[] =>
  dues.map((due) => ({
    due,
    quantity: plainText((cents * CENT) / knownClose(tape, due)),
    amount: plainText(cents * 10n ** 6n),
  }));

/** The fills of one strategy. */
export const journalTrades = (records: Iterable<StoredRecord>, strategy: string): readonly PlainTrade[] =>
  [...records].flatMap(({ at, body }) =>
    body.kind === 'fill' && body.strategy === strategy
      ? [{ due: at, quantity: body.quantity, amount: body.amount }]
      : [],
  );

const centsText = (worth: bigint): string => plainText(((worth + CENT - 1n) / CENT) * 10n ** 6n);

function whole(decimal: string): bigint {
  const [before = '0', after = ''] = decimal.split('.');
  return BigInt(before + after.slice(0, 8).padEnd(8, '0'));
}

function plainText(amount: bigint): string {
  const digits = String(amount).padStart(9, '0');
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/u, '');
}

export const sumOf = (trades: readonly PlainTrade[], what: 'quantity' | 'amount'): string =>
  plainText(trades.reduce((sum, trade) => sum + whole(trade[what]), 0n));

/** Quote per base, eight decimals, rounded down. */
export const averageOf = (trades: readonly PlainTrade[]): string =>
  plainText((whole(sumOf(trades, 'amount')) * UNIT) / whole(sumOf(trades, 'quantity')));
