import { NO_QUANTITY, add, holding, money, negate, quantity } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { corrected } from '../../core/cycle/corrected-fill.ts';
import type { FillRecord, RecordBody, RowText, StoredRecord } from '../../core/record.ts';
import { isDone } from '../account-history.ts';
import type { HistoryRow } from '../account-history.ts';
import { accountEntries } from './account-entries.ts';
import { movementPostings, tradePostings } from './entries.ts';
import type { Cost, Entry } from './entries.ts';

export interface Ledger {
  /** The currency of the desk's limits, which values everything else. */
  readonly currency: string;
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /** Values that counted in the limits, by the id of the entry: the value of a trade between two other currencies. */
  readonly costs: ReadonlyMap<string, Cost>;
  /** Modes of the runs in the journal. */
  readonly modes: ReadonlySet<string>;
}

/**
 * Makes the ledger of a journal and the account's history. A fill has the figures of its newest correction. A trade that the journal
 * knows comes from the journal, everything else from the history.
 */
export function ledgerOf(records: Iterable<StoredRecord>, history: readonly HistoryRow[]): Ledger {
  let currency = 'usd';
  const modes = new Set<string>();
  const fills = new Map<string, { readonly fill: FillRecord; readonly tags: Entry['tags'] }>();
  const rows = new Set<string>();
  for (const { seq, body } of records) {
    if (body.kind === 'started') modes.add(body.mode);
    if (body.kind === 'started') currency = body.limits?.['currency'] ?? currency;
    // The history shows a trade whose currencies the desk did not know.
    if (body.kind === 'fill' && body.base !== '')
      fills.set(body.client_order_id, { fill: body, tags: { record: String(seq) } });
    const before = body.kind === 'correction' ? fills.get(body.client_order_id) : undefined;
    if (body.kind === 'correction' && before !== undefined) {
      const tags = { ...before.tags, correction: String(seq) };
      fills.set(body.client_order_id, { fill: corrected(before.fill, body), tags });
    }
    for (const [id, shown] of shownRows(body)) if (fills.has(id)) for (const row of shown) rows.add(row.id);
  }
  const others = accountEntries(history, { orders: fills, rows });
  const own = [...fills.values()].flatMap(({ fill, tags }) => fillEntries(fill, tags));
  return {
    currency,
    entries: [...others, ...own].toSorted((a, b) => a.at - b.at),
    costs: new Map([...fills].flatMap(([id, { fill }]) => (money(fill.notional_usd).isZero() ? [] : [[id, { value: money(fill.notional_usd) }]]))),
    modes,
  };
} // prettier-ignore

/** Returns the rows of the account that a record ties to orders of the desk, by client id. */
function shownRows(body: RecordBody): readonly (readonly [id: string, rows: readonly RowText[]])[] {
  if (body.kind === 'shown') return Object.entries(body.fills);
  return body.kind === 'fill' || body.kind === 'correction' ? [[body.client_order_id, body.rows ?? []]] : [];
}

/** The trade, and an entry for each fee in another currency. */
function fillEntries(fill: FillRecord, tags: Entry['tags']): readonly Entry[] {
  const { client_order_id: id, executed_at: at, side, base, quote, strategy, parent, slice } = fill;
  const [units, amount] = [quantity(fill.quantity), holding(money(fill.amount))];
  const [change, paid] = side === 'buy' ? [units, negate(amount)] : [negate(units), amount];
  const legs = [{ currency: base, quantity: change }, { currency: quote, quantity: paid }] as const;
  const description = `${side} ${fill.quantity} ${base}: ${strategy}, ${parent}, slice ${slice}`;
  const trade = { id, at, description, postings: tradePostings(...legs, holding(money(fill.fees))), tags };
  const fees = Object.entries(fill.other_fees ?? {}).map(([currency, fee]) => ({
    ...trade,
    id: `${id} fee ${currency}`,
    postings: movementPostings(currency, negate(quantity(fee)), 'Expenses:Trading-Fees'),
  }));
  return [trade, ...fees];
} // prettier-ignore

/** Returns what the ledger holds more than the account's history shows, by currency; without currencies in which they are equal, or whose newest balance the venue does not state. */
export function differences(entries: readonly Entry[], history: readonly HistoryRow[]): ReadonlyMap<string, Quantity> {
  const done = history.filter(isDone);
  const newest = new Map(done.map(({ currency, balance }) => [currency, balance]));
  const left = new Map([...newest].map(([currency, balance]) => [currency, balance === '' ? NO_QUANTITY : negate(quantity(balance))]));
  for (const { account, currency, quantity: change } of entries.flatMap(({ postings }) => postings))
    if (account === 'Assets:Venue') left.set(currency, add(left.get(currency) ?? NO_QUANTITY, change));
  return new Map([...left].filter(([currency, difference]) => !difference.isZero() && newest.get(currency) !== ''));
} // prettier-ignore
