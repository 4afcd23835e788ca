import type { KnownRows } from '../../src/core/account/rows.ts';
import { CENT } from './amounts.ts';
import { BASE, MARK, OURS, QUOTE, WORST } from './account-case.ts';
import type { AccountCase } from './account-case.ts';
import type { Figures, Row } from './ledger.ts';

/** The rule about an order in doubt once more, plainly: written from its text, in whole numbers, without the product. */

export type Verdict =
  | { readonly is: 'filled'; readonly figures: Figures }
  | { readonly is: 'absent' }
  | { readonly is: 'open'; readonly rows: readonly string[] };

/** The progress of a proof, and what this process knows about the quote. */
export interface Progress {
  /** Reads that are still needed. */
  readsLeft: number;
  notBefore: number;
  /** A row of the order has shown: it cannot be absent. */
  hasTraded: boolean;
  isQuoted: boolean;
}

/** Two reads must be so far apart. */
export const GAP_MS = 10_000;
type Order = Pick<AccountCase, 'intent' | 'quotedBase' | 'quotedQuote'> & { readonly intentSeq: number };

const isTrade = ({ action }: Row): boolean => action === 'buy' || action === 'sell' || action === 'other';
const isFee = ({ action }: Row): boolean => action === 'charge' || action === 'credit';
const isSpoiled = ({ spoiled, action }: Row): boolean => spoiled !== undefined || action === 'other';
const NO_IDS = new Set(['', '-', '--', '0', '00000', 'null', 'N/A', 'none']);
const idOf = (id: string | undefined): string | undefined =>
  id === undefined || NO_IDS.has(id) ? undefined : id;
const isOurId = (id: string | undefined): id is string =>
  id !== undefined && id.length === OURS.length && id.startsWith(`tr-${MARK}-`);
const plain = (id: string): string => id.toLowerCase().replace(/[^a-z0-9]/gu, '');
const OURS_PLAIN = plain(OURS);

/** Another text as client id says that the row is another's if it names somebody and is no mangling of ours. */
function isAnothers(row: Row, known: KnownRows): boolean {
  const id = idOf(row.clientId);
  if (!known.echoesIds || id === undefined || isOurId(id)) return false;
  const text = plain(id);
  if (text.length < 4 || OURS_PLAIN.includes(text)) return false;
  return !text.includes(OURS_PLAIN.slice(0, 6)) && !text.includes(OURS_PLAIN.slice(-6));
}

/** By a person's word; by its text alone, which says nothing about the rows beside it. */
const [OTHERS, ALONE] = ['others', 'others, by the text'];
/** Whose each row is: a client id, `others`, or nobody's, by exact ids only. */
export function ownersOf(rows: readonly Row[], known: KnownRows): ReadonlyMap<Row, string> {
  const owners = new Map<Row, string>();
  const tied = (isSame: (row: Row) => boolean, told?: string): string | undefined => {
    const found = new Set(told === undefined ? [] : [told]);
    for (const [row, own] of owners) if (own !== ALONE && !isSpoiled(row) && isSame(row)) found.add(own);
    return found.size === 1 ? [...found][0] : undefined;
  };
  const byOrder = (id: string): string | undefined => tied((row) => row.orderId === id, known.orderOf(id));
  const byTrade = (id: string, order: string | undefined): string | undefined => {
    const isOther = (shown: string | undefined): boolean =>
      order !== undefined && shown !== undefined && shown !== order;
    for (const [row, owner] of owners)
      if (owner !== ALONE && !isSpoiled(row) && row.tradeId === id && isOther(idOf(row.orderId)))
        return undefined;
    return tied((row) => row.tradeId === id);
  };
  const ownerOf = (row: Row, step: number): string | undefined => {
    const word = known.wordOn(row.id);
    if (word !== undefined) return word.ours ?? OTHERS;
    if (isSpoiled(row)) return undefined;
    if (isOurId(row.clientId)) return row.clientId;
    const [order, trade] = [idOf(row.orderId), idOf(row.tradeId)];
    const exact = known.fillOf(row.id) ?? (order === undefined ? undefined : byOrder(order));
    if (exact !== undefined) return exact;
    if (step > 0 && isAnothers(row, known)) return ALONE;
    return step < 2 || trade === undefined ? undefined : byTrade(trade, order);
  };
  // Orders come before another's text, and that comes before trades; what is found at one step may help at each.
  for (let step = 0; step < 3; step++)
    for (let before = -1; before !== owners.size; ) {
      before = owners.size;
      for (const row of rows) {
        if (owners.has(row) || !(isTrade(row) || isFee(row))) continue;
        const owner = ownerOf(row, step);
        if (owner !== undefined) owners.set(row, owner);
      }
    } // prettier-ignore
  return owners;
}

/** The rows that hold the order open: nobody's, unless seen before the intent, larger than the whole order, or of another pair. */
function strangeRows(order: Order, nobodys: readonly Row[], known: KnownRows, isQuoted: boolean): readonly Row[] {
  const { intent: { by, side }, quotedBase: base, quotedQuote: quote } = order;
  const most = { [BASE]: base, [QUOTE]: quote };
  if (!isQuoted && by === 'quantity') most[QUOTE] = side === 'buy' ? (base * WORST.buy) : Infinity;
  if (!isQuoted && by === 'amount') most[BASE] = side === 'sell' ? Math.ceil(quote / WORST.sell) : Infinity;
  const isLarger = (row: Row): boolean =>
    row.spoiled === undefined &&
    ((row.currency === BASE && Math.abs(row.units) > most[BASE] + 1) || (row.currency === QUOTE && Math.abs(row.units) > most[QUOTE] + CENT));
  const isOld = (seq = Infinity): boolean => seq < order.intentSeq;
  return nobodys.filter((row) => {
    if (row.currency !== BASE && row.currency !== QUOTE && row.currency !== '') return false;
    return !isLarger(row) && !isOld(known.seenAt(row));
  });
} // prettier-ignore

/** The sum of all rows of an order. */
export function sumOf(rows: readonly Row[]): Figures & { readonly parts: number } {
  let [base, quote, bases, quotes] = [0, 0, 0, 0];
  const fees = new Map<string, number>();
  const pay = (currency: string, fee: number): void => void fees.set(currency, (fees.get(currency) ?? 0) + fee);
  for (const row of rows) {
    const { currency, units } = row;
    if (isFee(row)) pay(currency, units === 0 ? row.feeUnits : row.action === 'charge' ? Math.abs(units) : -Math.abs(units));
    else if (currency !== BASE && currency !== QUOTE) pay(currency, -units);
    else {
      pay(currency, row.feeUnits);
      if (currency === BASE) [base, bases] = [base + units, bases + 1];
      else [quote, quotes] = [quote + units, quotes + 1];
    }
  }
  for (const [currency, fee] of fees) if (fee === 0) fees.delete(currency);
  return { base: Math.abs(base), quote: Math.abs(quote), fees, parts: Math.max(1, bases, quotes) };
} // prettier-ignore

/** A whole read. `gaps`: currencies in which rows may be missing. */
export type PlainRead = Readonly<{ rows: readonly Row[]; startedAt: number; gaps: readonly string[] }>;

/** The verdict of one read; moves the proof on. */
export function judgePlainly(order: Order, progress: Progress, read: PlainRead, known: KnownRows): Verdict {
  const owners = ownersOf(read.rows, known);
  const own = read.rows.filter((row) => owners.get(row) === OURS);
  const nobodys = read.rows.filter((row) => isTrade(row) && !owners.has(row));
  const sum = sumOf(own);
  const isComplete = sum.base > 0 && sum.quote > 0;
  if (own.length > 0) progress.hasTraded = true;
  const isByQuantity = order.intent.by === 'quantity';
  const [asked, wanted] = isByQuantity ? [sum.base, order.quotedBase] : [sum.quote, order.quotedQuote];
  const away = isByQuantity ? Math.abs(sum.quote - order.quotedQuote) / CENT : Math.abs(sum.base - order.quotedBase);
  if (isComplete && progress.isQuoted && asked === wanted && away <= sum.parts) return { is: 'filled', figures: sum };
  const strange = strangeRows(order, nobodys, known, progress.isQuoted);
  if (strange.length > 0) return { is: 'open', rows: strange.map(({ id }) => id) };
  if (read.gaps.includes(BASE) || read.gaps.includes(QUOTE)) return { is: 'open', rows: [] };
  if (read.startedAt >= progress.notBefore) {
    progress.readsLeft = Math.max(0, progress.readsLeft - 1);
    progress.notBefore = read.startedAt + GAP_MS;
  }
  if (progress.readsLeft > 0 || (progress.hasTraded && !isComplete)) return { is: 'open', rows: [] };
  return isComplete ? { is: 'filled', figures: sum } : { is: 'absent' };
} // prettier-ignore
