import { text } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Lot } from './lots.ts';
import { gainOf } from './subledger.ts';
import type { Entry } from './subledger.ts';

/**
 * The text of a closed period, whose SHA-256 the journal stores: lines of JSON, each ending with a line feed. The
 * period comes first, then its entries in the order of the books, then the lots that are open at its end. Old records
 * depend on every character of the text.
 */
export interface PeriodFacts {
  /** Hash of the previous period, so that each hash covers all closed periods. */
  readonly before: string | undefined;
  readonly from: Instant | undefined;
  readonly until: Instant;
  readonly currency: string;
  readonly method: string;
  readonly jurisdiction: string | undefined;
}

export const periodLine = (facts: PeriodFacts): string =>
  line({
    books: 1,
    before: facts.before ?? '',
    from: facts.from === undefined ? '' : isoOf(facts.from),
    until: isoOf(facts.until),
    currency: facts.currency,
    method: facts.method,
    jurisdiction: facts.jurisdiction ?? '',
  });

export const entryLine = ({ id, at, what, description, postings, gains, source }: Entry): string =>
  line({
    entry: id,
    at: isoOf(at),
    what,
    description,
    postings: postings.map(({ account, currency, quantity, value, lot }) => [
      account,
      currency,
      text(quantity),
      text(value),
      ...(lot === undefined ? [] : [lot.id, isoOf(lot.acquiredAt), lot.isNew ? 'opened' : 'taken']),
    ]),
    gains: gains.map((gain) => [
      gain.currency,
      gain.lot,
      isoOf(gain.acquiredAt),
      isoOf(gain.disposedAt),
      text(gain.quantity),
      text(gain.proceeds),
      text(gain.cost),
      text(gainOf(gain)),
    ]),
    ...(source === undefined
      ? {}
      : 'seq' in source
        ? { record: source.seq, hash: source.hash }
        : { transactions: source.transactions }),
  });

export const lotLine = (currency: string, { id, acquiredAt, quantity, cost }: Lot): string =>
  line({ lot: id, currency, acquired_at: isoOf(acquiredAt), quantity: text(quantity), cost: text(cost) });

const line = (value: object): string => `${JSON.stringify(value)}\n`;
