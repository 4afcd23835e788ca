import { inspect } from 'node:util';
import { parseClientId } from '../../src/core/ids.ts';
import { add, money, NO_MONEY, NO_QUANTITY, quantity, size, text } from '../../src/core/money.ts';
import type { Money, Quantity } from '../../src/core/money.ts';
import type { FillRecord, StoredRecord } from '../../src/core/record.ts';
import { sliceKey } from '../../src/engine/state/engine-state.ts';
import { isDone } from '../../src/engine/run.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import type { Bench } from './harness.ts';

/** One trade of the desk in the ledger of the exchange, with which the journal is compared. */
export interface LedgerTrade {
  readonly clientId: string;
  readonly pair: string;
  readonly side: string;
  readonly quantity: Quantity;
  readonly amount: Money;
  readonly fees: Money;
}

/** Every executed order of the first account, in order. One client id with two orders is two trades. */
export function ledgerTrades(exchange: Exchange): readonly LedgerTrade[] {
  const account = exchange.accounts[0]?.name ?? '';
  const trades = new Map<string, LedgerTrade>();
  for (const row of exchange.ledger.rows(account)) {
    if (row.tradeId === undefined || row.pair === undefined) continue;
    const known = trades.get(row.tradeId) ?? {
      clientId: row.clientId ?? '',
      pair: row.pair,
      side: row.action,
      quantity: NO_QUANTITY,
      amount: NO_MONEY,
      fees: NO_MONEY,
    };
    const isBase = row.pair.startsWith(row.currency);
    trades.set(row.tradeId, {
      ...known,
      quantity: isBase ? size(row.amount) : known.quantity,
      amount: isBase ? known.amount : money(size(row.amount).toFixed()),
      fees: isBase ? known.fees : money(row.fees.toFixed()),
    });
  }
  return [...trades.values()];
}

export const fillsOf = (records: readonly StoredRecord[]): readonly FillRecord[] =>
  records.flatMap(({ body }) => (body.kind === 'fill' ? [body] : []));

const line = (id: string, pair: string, side: string, figures: readonly string[]): string =>
  `${id} ${side} ${pair} ${figures.join(' ')}`;

/** What the exchange executed and what the journal says, as sorted lines: equal if no fill is lost, invented or recorded twice. */
export function books(
  exchange: Exchange,
  records: readonly StoredRecord[],
): { readonly ledger: readonly string[]; readonly journal: readonly string[] } {
  const ledger = ledgerTrades(exchange).map((trade) =>
    line(trade.clientId, trade.pair, trade.side, [
      text(trade.quantity),
      text(trade.amount),
      text(trade.fees),
    ]),
  );
  const journal = fillsOf(records).map((fill) =>
    line(fill.client_order_id, fill.pair, fill.side, [fill.quantity, fill.amount, fill.fees]),
  );
  return { ledger: ledger.toSorted(), journal: journal.toSorted() };
}

/** Slices of which the exchange executed more than was decided: must be empty, whatever failed. */
export function overExecuted(exchange: Exchange, records: readonly StoredRecord[]): readonly string[] {
  const planned = new Map<string, { by: string; size: string }>();
  for (const { body } of records) {
    if (body.kind !== 'wake') continue;
    for (const intent of body.intents) planned.set(sliceKey(intent.parent, intent.slice), intent);
  }
  const executed = new Map<string, { quantity: Quantity; amount: Money }>();
  for (const trade of ledgerTrades(exchange)) {
    const id = parseClientId(trade.clientId);
    const key = sliceKey(id?.parent ?? '?', id?.slice ?? 0);
    const before = executed.get(key) ?? { quantity: NO_QUANTITY, amount: NO_MONEY };
    executed.set(key, {
      quantity: add(before.quantity, trade.quantity),
      amount: add(before.amount, trade.amount),
    });
  }
  const wrong: string[] = [];
  for (const [key, done] of executed) {
    const plan = planned.get(key);
    if (plan === undefined) wrong.push(`${key}: never decided, executed ${text(done.quantity)}`);
    else if (plan.by === 'quantity' ? done.quantity.gt(plan.size) : done.amount.gt(plan.size))
      wrong.push(`${key}: decided ${plan.size}, executed ${text(done.quantity)} for ${text(done.amount)}`);
  }
  return wrong;
}

/** Intents for a pair of which an attempt was in doubt: must be empty. */
export function intentsInDoubt(records: readonly StoredRecord[]): readonly string[] {
  const pairs = new Map<string, string>();
  const open = new Map<string, string>();
  const wrong: string[] = [];
  for (const { seq, body } of records) {
    if (body.kind === 'intent') {
      pairs.set(body.client_order_id, body.pair);
      if ([...open.values()].includes(body.pair)) wrong.push(`${seq}: ${body.client_order_id}`);
    } else if (body.kind === 'attempt' && body.result === 'doubt') {
      open.set(body.client_order_id, pairs.get(body.client_order_id) ?? '');
    } else if (body.kind === 'attempt' || body.kind === 'fill') open.delete(body.client_order_id);
  }
  return wrong;
}

/** All violations once a desk has come to rest; empty if there are none. */
export function faultsOf(bench: Bench): readonly string[] {
  const { exchange, desk, seen } = bench;
  const records = bench.records();
  const faults: string[] = [];
  if (seen.error !== undefined) faults.push(`the desk ended with ${inspect(seen.error)}`);
  const { ledger, journal } = books(exchange, records);
  const missing = ledger.filter((trade) => !journal.includes(trade));
  const invented = journal.filter((fill) => !ledger.includes(fill));
  faults.push(...missing.map((trade) => `not in the journal: ${trade}`));
  faults.push(...invented.map((fill) => `not in the ledger: ${fill}`));
  if (ledger.length !== journal.length) faults.push(`${ledger.length} trades, ${journal.length} fills`);
  faults.push(...overExecuted(exchange, records));
  if (desk.state.attempts.size > 0) faults.push(`${desk.state.attempts.size} attempts are open`);
  if (desk.state.control !== 'active') faults.push(`${desk.state.control}: ${desk.state.controlWhy}`);
  if (!isDone(desk)) faults.push('not done');
  return faults;
}

/** The same for a desk whose strategies go on for ever. */
export const wrongOf = (bench: Bench): readonly string[] =>
  faultsOf(bench).filter((fault) => fault !== 'not done');

/** Base quantity that the exchange executed in all. */
export const executedTotal = (exchange: Exchange): Quantity =>
  ledgerTrades(exchange).reduce((sum, trade) => add(sum, trade.quantity), NO_QUANTITY);

export const filledTotal = (records: readonly StoredRecord[]): Quantity =>
  fillsOf(records).reduce((sum, fill) => add(sum, quantity(fill.quantity)), NO_QUANTITY);
