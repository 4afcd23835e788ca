import { describe, expect, it } from 'vitest';
import type { Exchange, TransactionsAsked } from '../../src/simulator/exchange/exchange.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { execute, anExchange, aRequest, DESK, later, quantityOf, START, valueOf } from './world.ts';

type Lists = VenueInput['lists'];
/** A row as it is sent; numbers are the text that was written. */
type Row = Readonly<Record<string, unknown>>;

const numbersAsText = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? context?.source : value,
  );

/** An exchange that has bought a bitcoin in three trades and sold half of one, both with client ids. */
function traded(lists: Lists, input: VenueInput = {}): Exchange {
  const exchange = anExchange({ booking: { tradesPerOrder: 3 }, lists, ...input });
  valueOf(execute(exchange, { clientId: 'tr-abcdefgh-1' }));
  valueOf(execute(exchange, { side: 'sell', size: quantityOf('0.5'), clientId: 'tr-abcdefgh-2' }));
  return exchange;
}

const shown = (exchange: Exchange, asked: TransactionsAsked = {}, ms = 0): readonly Row[] =>
  numbersAsText(JSON.stringify(valueOf(exchange.listed(DESK, asked, later(ms))))) as readonly Row[];

const isOfOrder = ({ algo_name: algorithm }: Row): boolean => algorithm !== '';
const rowsOf = (lists: Lists, ms = 0): readonly Row[] => shown(traded(lists), {}, ms).filter(isOfOrder);
const values = (rows: readonly Row[], ...fields: readonly string[]): readonly string[] => [
  ...new Set(rows.map((row) => fields.map((field) => JSON.stringify(row[field])).join(' '))),
];

/** Every behaviour alone, and many at once. */
const behaviours: readonly [string, Lists][] = [
  ['order ids only', { ids: 'order_ids_only' }],
  ['client ids on one leg', { ids: 'client_ids_on_one_leg' }],
  ['no order ids', { ids: 'no_order_ids' }],
  ['late ids', { idsAfterMs: 8_000 }],
  ['mangled client ids', { clientIds: 'upper_case' }],
  ['no trade ids', { tradeIds: 'none' }],
  ['shared trade ids', { tradeIds: 'shared' }],
  ['own actions of the legs', { actions: 'leg' }],
  ['other symbols', { symbols: 'dash' }],
  ['a clock five hours behind', { clockMs: -18_000_000 }],
  ['a clock five hours ahead', { clockMs: 18_000_000 }],
  ['ids above 2^53', { idOffset: '9007199254740992' }],
  ['odd fields', { oddFields: ['numeric_memo', 'zoneless_day', 'empty_fees', 'empty_trade_ids', 'text_row_ids'] }],
  ['everything', { ids: 'order_ids_only', actions: 'leg', symbols: 'none', clockMs: 3_000, tradeIds: 'none', idOffset: '9007199254740992', oddFields: ['text_row_ids'] }],
]; // prettier-ignore

describe('the transactions of a venue with its own way to list them', () => {
  it.each(behaviours)('leave the ledger as it is, and every page and cursor works: %s', (_, lists) => {
    const [exchange, plain] = [traded(lists), traded(undefined)];
    expect(exchange.ledger.rows(DESK)).toEqual(plain.ledger.rows(DESK));

    const all = shown(exchange);
    expect(all).toHaveLength(plain.ledger.rows(DESK).length);
    const ids = all.map(({ id }) => BigInt(String(id)));
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? 1 : -1)));
    const pages = Array.from({ length: all.length }, (__, n) => shown(exchange, { limit: 1, offset: n + 1 }));
    expect(pages.flat()).toEqual(all);
    expect(shown(exchange, { limit: 4, offset: 5 })).toEqual(all.slice(4, 8));
    const stamps = all.map(({ timestamp }) => Number(timestamp));
    expect(shown(exchange, { from: later(Math.min(...stamps) - START), to: later(Math.max(...stamps) - START) })).toEqual(all); // prettier-ignore
    expect(shown(exchange, { from: later(Math.max(...stamps) - START + 1) })).toEqual([]);
  });

  it('continue after any row: as booked, with ids above 2^53, and renumbered', () => {
    for (const lists of [undefined, { ids: 'order_ids_only' }, { idOffset: '9007199254740992' }] as const) {
      const exchange = traded(lists);
      exchange.renumber(DESK, later(0));
      const all = shown(exchange);
      for (const [index, { id }] of all.entries())
        expect(shown(exchange, { after: BigInt(String(id)) })).toEqual(all.slice(0, index));
    }
  });

  it.each<[string, Lists, readonly (readonly [order: boolean, client: boolean])[]]>([
    ['both', { ids: 'both' }, [[true, true], [true, true]]],
    ['the order id only', { ids: 'order_ids_only' }, [[true, false], [true, false]]],
    ['the client id on the base leg only', { ids: 'client_ids_on_one_leg' }, [[true, true], [true, false]]],
    ['the client id only', { ids: 'no_order_ids' }, [[false, true], [false, true]]],
  ])('show of an order %s', (_, lists, expected) => {
    for (const [index, currency] of ['btc', 'usd'].entries()) {
      const legs = rowsOf(lists).filter((row) => row['currency'] === currency);
      const has = legs.map((row) => [row['order_id'] !== null, row['client_order_id'] !== null]);
      expect(has).toEqual(legs.map(() => expected[index]));
    }
  }); // prettier-ignore

  it('show the ids of a row only some time after it appears', () => {
    const lists: Lists = { idsAfterMs: 8_000 };
    expect(values(rowsOf(lists, 7_999), 'order_id', 'client_order_id', 'trade_id')).toEqual([
      'null null null',
    ]);
    expect(rowsOf(lists, 8_000)).toEqual(rowsOf(undefined, 8_000));
    const late = traded(lists, { booking: { delaysMs: [5_000] } });
    expect(values(shown(late, {}, 12_999).filter(isOfOrder), 'order_id')).toEqual(['null']);
    expect(values(shown(late, {}, 13_000).filter(isOfOrder), 'order_id')).not.toContain('null');
  });

  it.each<[string, Lists, string]>([
    ['in capitals', { clientIds: 'upper_case' }, 'TR-ABCDEFGH-1'],
    ['cut', { clientIds: 'cut', clientIdLength: 5 }, 'tr-ab'],
    ['as a dash', { clientIds: 'dash' }, '-'],
    ['as zero', { clientIds: 'zero' }, '0'],
    ['with a prefix', { clientIds: 'prefixed' }, 'x-tr-abcdefgh-1'],
  ])('show client ids %s', (_, lists, expected) => {
    expect(values(rowsOf(lists), 'client_order_id')).toContain(`"${expected}"`);
  });

  it('show a UUID for each client id', () => {
    const ids = values(rowsOf({ clientIds: 'uuid' }), 'client_order_id');
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(id).toMatch(/^"[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}"$/u);
  });

  it('show the trades of an order without trade ids, or all with the first one', () => {
    expect(values(rowsOf({ tradeIds: 'none' }), 'trade_id')).toEqual(['null']);
    const ids = values(rowsOf({ tradeIds: 'shared' }), 'order_id', 'trade_id');
    const first = values(rowsOf(undefined).toReversed(), 'order_id', 'trade_id');
    expect(ids.toSorted()).toEqual([first[0], first[3]]);
  });

  it('show an action for each leg, and filter by it', () => {
    const actions = (lists: Lists): readonly string[] => values(rowsOf(lists), 'action', 'currency').toSorted();
    expect(actions({ actions: 'order' })).toEqual(['"Buy" "btc"', '"Buy" "usd"', '"Sell" "btc"', '"Sell" "usd"']);
    for (const { action, amount } of rowsOf({ actions: 'leg' }))
      expect(action).toBe(String(amount).startsWith('-') ? 'Sell' : 'Buy');
    const bought = shown(traded({ actions: 'leg' }), { types: new Set(['buy']) });
    expect(bought).toHaveLength(6);
    expect(values(bought, 'action')).toEqual(['"Buy"']);
  }); // prettier-ignore

  it.each<[NonNullable<NonNullable<Lists>['symbols']>, string]>([
    ['plain', '"btcusd"'],
    ['slash', '"btc/usd"'],
    ['dash', '"BTC-USD"'],
    ['none', 'null'],
  ])('show the pair in the spelling %s', (symbols, expected) => {
    expect(values(rowsOf({ symbols }), 'symbol')).toEqual([expected]);
  });

  it.each([-18_000_000, -3_000, 3_000, 18_000_000])('are stamped by a clock that is %i ms off', (clockMs) => {
    const rows = rowsOf({ clockMs });
    expect(values(rows, 'timestamp')).toEqual([`"${START + clockMs}"`]);
    expect(values(rows, 'day')).toEqual([`"${new Date(START + clockMs).toISOString()}"`]);
    const quote = valueOf(traded({ clockMs }).quote(DESK, aRequest(), later(0)));
    expect(quote.quotedAt).toBe(START);
  });

  it('have ids above 2^53 with all digits, as numbers or as text', () => {
    const lists: Lists = { idOffset: '9007199254740992' };
    const plain = rowsOf(undefined).map(({ id }) => BigInt(String(id)));
    const offset = plain.map((id) => String(id + 9_007_199_254_740_992n));
    expect(rowsOf(lists).map(({ id }) => id)).toEqual(offset);
    const text = JSON.stringify(valueOf(traded({ ...lists, oddFields: ['text_row_ids'] }).listed(DESK, {}, later(0)))); // prettier-ignore
    expect(text).toContain(`"id":"${offset[0]}"`);
  });

  it('have fields of odd types, and fees that are not zero as they are', () => {
    const [row] = rowsOf({ oddFields: ['numeric_memo', 'zoneless_day', 'empty_fees', 'empty_trade_ids'] });
    expect(row).toMatchObject({ memo: '20260105', day: '2026-01-05T10:00:00.000', fees: '', trade_id: '' });
    const paid = shown(traded({ oddFields: ['empty_fees'] }, { feeBps: 10 })).filter(isOfOrder);
    expect(new Set(paid.map(({ fees, currency }) => `${String(currency)} ${fees === ''}`))).toEqual(new Set(['usd false', 'btc true'])); // prettier-ignore
  });
});
