import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { FillRow, VenueAddress } from './desk.ts';
import { admin } from './venue.ts';
import type { VenueProcess } from './venue.ts';

/**
 * The account as the venue tells it, read by nothing of the product: plain `fetch`, and numbers kept as the text that
 * came.
 */

/** One transaction; every number is the text that stood in the answer. */
export type Row = Readonly<Record<string, string | undefined>>;

const PATIENCE_MS = 120_000;
const PAGE = 1_000;

/** All trades of the account, the newest page that the venue gives. Waits out its limit of one read in ten seconds. */
export async function readTrades({ baseUrl, token }: VenueAddress): Promise<readonly Row[]> {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 1_000) {
    const answer = await fetch(`${baseUrl}/v1/account/transactions?limit=${PAGE}&types=buy,sell`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const text = await answer.text();
    if (answer.status === 200) {
      const rows = parseAsText(text);
      // A full page would hide older trades: the comparison would prove nothing.
      expect(rows.length).toBeLessThan(PAGE);
      return rows;
    }
    expect(answer.status).toBe(429);
    await sleep(1_000);
  }
  throw new Error('the venue did not give its transactions within two minutes');
}

/** The trades and fees of the account as the venue's ledger has them, however it lists them. */
export const readLedger = async (venue: VenueProcess): Promise<readonly Row[]> =>
  parseAsText(await admin(venue, 'GET ledger/desk')).filter((row) => row['order_id'] !== undefined);

/** No client id has traded as two orders. */
export function expectExecutedOnce(rows: readonly Row[]): void {
  const orders = Map.groupBy(rows, (row) => row['client_order_id'] ?? '');
  const twice = [...orders].filter(([, own]) => new Set(own.map((row) => row['order_id'])).size > 1);
  expect(twice.map(([id]) => id)).toEqual([]);
}

/** JSON with numbers as their source text. */
function parseAsText(text: string): readonly Row[] {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? (context?.source ?? fail(value)) : value === null ? undefined : value,
  ) as readonly Row[];
}

const fail = (value: number): never => {
  throw new Error(`this Node gives no source text for ${value}`);
};

/** One spelling for one amount, without arithmetic: `1.50` and `1.5` are the same money. */
export function sameSpelling(text: string): string {
  const parts = /^(-?)0*(\d+?)(?:\.(\d*?)0*)?$/u.exec(text);
  if (parts === null) throw new Error(`not a plain decimal: ${text}`);
  const [, sign = '', whole = '', rest = ''] = parts;
  return `${sign}${whole}${rest === '' ? '' : `.${rest}`}`;
}

const spelt = (text: string | undefined): string => sameSpelling(text ?? 'nothing');
const opposite = (text: string): string => (text.startsWith('-') ? text.slice(1) : `-${text}`);

/** Both legs of a trade as one line of text. */
interface Trade {
  readonly id: string;
  readonly order: string;
  readonly pair: string;
  readonly side: string;
  readonly base: string;
  readonly quote: string;
  readonly price: string;
}

/** The trades of the ledger by client id: two transactions that share order and trade. */
export function tradesOf(rows: readonly Row[]): readonly Trade[] {
  const legs = Map.groupBy(rows, ({ trade_id: trade }) => trade ?? 'none');
  return [...legs.values()].map((both): Trade => {
    expect(both).toHaveLength(2);
    const [first, second] = both;
    const pair = first?.['symbol'] ?? '';
    const base = pair.startsWith(first?.['currency'] ?? '?') ? first : second;
    const quote = base === first ? second : first;
    expect(`${base?.['currency']}${quote?.['currency']}`).toBe(pair);
    expect(quote?.['order_id']).toBe(base?.['order_id']);
    return {
      id: base?.['client_order_id'] ?? '',
      order: base?.['order_id'] ?? '',
      pair,
      side: (base?.['action'] ?? '').toLowerCase(),
      base: spelt(base?.['amount']),
      quote: spelt(quote?.['amount']),
      price: spelt(base?.['price']),
    };
  });
}

/** The fills as the ledger would show them. */
function expectedOf(fills: readonly FillRow[]): readonly Trade[] {
  return fills.map((fill): Trade => {
    const isBuy = fill.side === 'buy';
    const [quantity, amount] = [spelt(fill.quantity), spelt(fill.amount)];
    return {
      id: fill.client_order_id,
      order: fill.order_id,
      pair: fill.pair,
      side: fill.side,
      base: isBuy ? quantity : opposite(quantity),
      quote: isBuy ? opposite(amount) : amount,
      price: spelt(fill.price),
    };
  });
}

const byId = (a: Trade, b: Trade): number => (a.id < b.id ? -1 : Number(a.id > b.id));

/** Journal and venue tell the same story: every fill is a trade and every trade is a fill, to the last digit of both legs. */
export function expectSameStory(fills: readonly FillRow[], rows: readonly Row[]): void {
  expect(expectedOf(fills).toSorted(byId)).toEqual(tradesOf(rows).toSorted(byId));
}
