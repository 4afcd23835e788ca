import type { Desk } from '../desk.ts';
import type { ShortQuotes } from './quote-failures.ts';

/** Consecutive quotes after which the alert is raised, once. */
export const SHORT_QUOTES_MAX = 3;

/** Counts a quote whose life was too short for an order. */
export function quoteWasTooShort(desk: Desk, pair: string, figures: Omit<ShortQuotes, 'count'>): void {
  const count = (desk.shortQuotes.get(pair)?.count ?? 0) + 1;
  desk.shortQuotes.set(pair, { count, ...figures });
  if (count !== SHORT_QUOTES_MAX) return;
  desk.observer.alert('no_quotes', {
    pair,
    reason: 'quote_too_short',
    quotes: count,
    life_ms: figures.lifeMs,
    needs_ms: figures.needsMs,
    order_margin_ms: desk.policy.orderMarginMs,
  });
}

/** A quote of the pair lived long enough, so the count starts over. */
export function quoteSufficed(desk: Desk, pair: string): void {
  if (desk.shortQuotes.size > 0) desk.shortQuotes.delete(pair);
}

/** Describes, one line each, pairs whose quotes are too short for an order. */
export const shortQuoteWords = (desk: Desk): readonly string[] =>
  [...desk.shortQuotes].flatMap(([pair, { count, lifeMs, needsMs }]) =>
    count < SHORT_QUOTES_MAX
      ? []
      : [
          `the quotes of ${pair} live ${lifeMs} ms and an order needs ${needsMs} ms, order_margin of ${desk.policy.orderMarginMs} ms included: the pair does not trade`,
        ],
  );
