import type { CorrectionEvent, MovementEvent, TradeEvent } from '../../src/accounting/events.ts';
import { Subledger } from '../../src/accounting/subledger.ts';
import type { BookSettings, Entry } from '../../src/accounting/subledger.ts';
import { NO_MONEY, add, money, price, quantity, text } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';

/** Midnight of a day of 2026, counted from 0. */
export const day = (n: number): Instant => instant(Date.UTC(2026, 0, 1 + n));

let seq = 0;
const source = (): { seq: number; hash: string } => ({ seq: (seq += 1), hash: `hash ${seq}` });

interface Figures {
  readonly on: number;
  readonly id: string;
  readonly pair?: readonly [base: string, quote: string];
  readonly quantity: string;
  readonly amount: string;
  readonly fees?: string;
}

const trade =
  (side: 'buy' | 'sell') =>
  ({
    on,
    id,
    pair: [base, quote] = ['btc', 'usd'],
    quantity: units,
    amount,
    fees = '0',
  }: Figures): TradeEvent => ({
    type: 'trade',
    id,
    at: day(on),
    base,
    quote,
    side,
    quantity: quantity(units),
    amount: money(amount),
    fees: money(fees),
    description: 'a strategy',
    source: source(),
  });

export const buy = trade('buy');
export const sell = trade('sell');

export const correction = ({ on, id, quantity: units, amount, fees = '0' }: Figures): CorrectionEvent => ({
  type: 'correction',
  id,
  at: day(on),
  quantity: quantity(units),
  amount: money(amount),
  fees: money(fees),
  source: source(),
});

export const movement = (
  type: MovementEvent['type'],
  {
    on,
    id,
    currency,
    units,
    fee = '0',
  }: { on: number; id: string; currency: string; units: string; fee?: string },
): MovementEvent => ({
  type,
  id,
  at: day(on),
  currency,
  quantity: quantity(units),
  fee: quantity(fee),
  description: 'a movement',
  source: { transactions: [1] },
});

/** Books in usd. `eth` is always worth 3000, `usdc` 1; everything is remembered for corrections. */
export const aSubledger = (settings: Partial<BookSettings> = {}): Subledger =>
  new Subledger({
    currency: 'usd',
    method: 'fifo',
    priceAt: (currency) => ({ eth: price('3000'), usdc: price('1'), btc: price('50000') })[currency],
    choiceOf: () => undefined,
    costOf: () => undefined,
    isCorrected: () => true,
    ...settings,
  });

/** `currency: quantity for cost` of each open lot. */
export const lotsOf = (books: Subledger): readonly string[] =>
  [...books.lots()].map(([currency, lot]) => `${text(lot.quantity)} ${currency} for ${text(lot.cost)}`);

/** What was gained in all, as the postings have it. */
export const gained = (entries: readonly Entry[]): string =>
  text(
    entries
      .flatMap(({ postings }) => postings)
      .filter(({ account }) => account === 'realised gains')
      .reduce((sum, { value }) => add(sum, money(text(value)).negated() as typeof sum), NO_MONEY),
  );

/** Sums of the holdings by currency. */
export function held(entries: readonly Entry[]): Readonly<Record<string, string>> {
  const sums = new Map<string, ReturnType<typeof quantity>>();
  for (const { postings } of entries)
    for (const { account, currency, quantity: units } of postings)
      if (account === 'holdings') sums.set(currency, add(sums.get(currency) ?? quantity('0'), units));
  return Object.fromEntries([...sums].map(([currency, sum]) => [currency, text(sum)]));
}

/** What is left of the values of an entry: nothing, in books. */
export const imbalance = ({ postings }: Entry): string =>
  text(postings.reduce((sum, { value }) => add(sum, value), NO_MONEY));
