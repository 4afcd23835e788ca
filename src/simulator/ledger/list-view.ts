import { exact } from '../../core/text/json.ts';
import { after, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Pair } from '../../core/pairs.ts';
import type { Side } from '../../core/venue.ts';
import { transactionBody } from '../../wire/account-bodies.ts';
import { uuidOf } from '../exchange/quotes.ts';
import type { ListOptions } from '../options/options-lists.ts';
import { DONE } from './leg.ts';
import type { LedgerRow } from './leg.ts';
import type { Listed, LedgerQuery } from './ledger.ts';

/** Query of the list. Times, ids and types are those that the rows show. */
export type ListQuery = Omit<LedgerQuery, 'now'>;

/**
 * The transactions as the venue shows them, newest first. The rows of orders are changed as `options` say; the ledger keeps the
 * truth, and tests compare with it.
 */
export function listView(rows: readonly Listed[], query: ListQuery, setting: ListSetting): readonly object[] {
  const view = { ...setting, firstTrades: firstTrades(rows) };
  const skipped = Math.max(0, query.offset - 1);
  return rows
    .map((listed) => shown(listed, view))
    .filter((row) => matches(row, query))
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    .slice(skipped, skipped + query.limit)
    .map(({ body }) => body);
}

export interface ListSetting {
  readonly options: ListOptions;
  readonly now: Instant;
  readonly pairs: ReadonlyMap<string, Pair>;
}

interface View extends ListSetting {
  /** Id of the first trade of each order. */
  readonly firstTrades: ReadonlyMap<string, string>;
}

/** A row as it is shown, and the values by which the list filters and orders it. */
interface Shown {
  readonly id: bigint;
  readonly at: Instant;
  readonly action: string;
  readonly isDone: boolean;
  readonly body: object;
}

type Fields = Readonly<Record<string, unknown>>;

function shown({ row, since, listedId }: Listed, view: View): Shown {
  const { options, now } = view;
  const id = BigInt(listedId) + BigInt(options.idOffset);
  const at = after(row.at, options.clockMs);
  const isTrade = row.tradeId !== undefined;
  const action = isTrade && options.actions === 'leg' ? legAction(row) : row.action;
  const hasIds = now >= after(since, options.idsAfterMs);
  const stamped: Fields = { ...transactionBody(row), id: exact(String(id)), timestamp: at, day: isoOf(at) };
  const body: Fields = {
    ...stamped,
    ...(row.orderId === undefined ? {} : hasIds ? idsOf(row, stamped, view) : NO_IDS),
    ...(isTrade ? { action: action === 'buy' ? 'Buy' : 'Sell', symbol: symbolOf(stamped, view) } : {}),
  };
  return { id, at, action, isDone: row.status === DONE, body: withOddFields(body, options.oddFields) };
}

function matches({ id, at, action, isDone }: Shown, query: ListQuery): boolean {
  if (at < query.from || at > query.to) return false;
  if (query.after !== undefined && id <= query.after) return false;
  return (query.types?.has(action) ?? true) && (isDone || query.pending);
}

function firstTrades(rows: readonly Listed[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { row } of rows)
    if (row.orderId !== undefined && row.tradeId !== undefined && !first.has(row.orderId))
      first.set(row.orderId, row.tradeId);
  return first;
}

const legAction = ({ amount }: LedgerRow): Side => (amount.isNegative() ? 'sell' : 'buy');

const NO_IDS: Fields = { order_id: null, client_order_id: null, trade_id: null };

/** The ids that the row of an order shows. */
function idsOf(row: LedgerRow, body: Fields, { options, pairs, firstTrades: first }: View): Fields {
  const { ids, tradeIds } = options;
  const isBase = pairs.get(String(body['symbol']))?.base === row.currency;
  const hasClientId = ids !== 'order_ids_only' && (ids !== 'client_ids_on_one_leg' || isBase);
  const clientId = row.clientId === undefined ? body['client_order_id'] : clientIdOf(row.clientId, options);
  const trade = tradeIds === 'shared' ? first.get(row.orderId ?? '') : row.tradeId;
  return {
    order_id: ids === 'no_order_ids' ? null : body['order_id'],
    client_order_id: hasClientId ? clientId : null,
    trade_id: row.tradeId === undefined || tradeIds === 'none' ? null : Number(trade),
  };
}

function clientIdOf(id: string, { clientIds, clientIdLength }: ListOptions): string {
  switch (clientIds) {
    case 'exact':
      return id;
    case 'upper_case':
      return id.toUpperCase();
    case 'cut':
      return id.slice(0, clientIdLength);
    case 'uuid':
      return uuidOf(id);
    case 'dash':
      return '-';
    case 'zero':
      return '0';
    case 'prefixed':
      return `x-${id}`;
  }
}

function symbolOf({ symbol }: Fields, { options, pairs }: View): unknown {
  const pair = pairs.get(String(symbol));
  if (options.symbols === 'plain' || pair === undefined) return symbol;
  if (options.symbols === 'none') return null;
  const { base, quote } = pair;
  return options.symbols === 'slash' ? `${base}/${quote}` : `${base}-${quote}`.toUpperCase();
}

/** A fee that is not zero stays, because without it the row would be wrong. */
function withOddFields(body: Fields, odd: ListOptions['oddFields']): Fields {
  if (odd.length === 0) return body;
  const { id, day, fees } = body;
  const hasNoFee = JSON.stringify(fees) === '0';
  return {
    ...body,
    ...(odd.includes('numeric_memo') ? { memo: 20_260_105 } : {}),
    ...(odd.includes('zoneless_day') ? { day: String(day).replace('Z', '') } : {}),
    ...(odd.includes('empty_fees') && hasNoFee ? { fees: '' } : {}),
    ...(odd.includes('empty_trade_ids') ? { trade_id: '' } : {}),
    ...(odd.includes('text_row_ids') ? { id: JSON.stringify(id) } : {}),
  };
}
