import { fieldsOf, numberOf, textOf } from './json.ts';
import type { Fields } from './json.ts';
import { expectGood, pair, quantity } from './target.ts';
import type { Answer, Target } from './target.ts';

/** JSON text of an object whose values are already JSON texts, so that no number is rewritten. */
export const json = (fields: Readonly<Record<string, string | undefined>>): string =>
  `{${Object.entries(fields)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${JSON.stringify(name)}:${value}`]))
    .join(',')}}`;
export const quoted = (text: string): string => JSON.stringify(text);

/** A valid quote request; `undefined` omits a field. Values are JSON texts. */
export const quoteBody = (more: Readonly<Record<string, string | undefined>> = {}): string =>
  json({ pair: quoted(pair), side: '"buy"', quantity, ...more });

export async function aQuote(
  venue: Target,
  more: Readonly<Record<string, string | undefined>> = {},
): Promise<Fields> {
  return fieldsOf(expectGood(await venue.post('/v1/quote', quoteBody(more))).body);
}

/** Executes a quote; `undefined` omits a field. */
export async function anOrder(
  venue: Target,
  quote: Fields,
  more: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> {
  const side = textOf(quote['side']).toLowerCase();
  const body = json({
    currency_pair: quoted(textOf(quote['pair'])),
    quote_id: quoted(textOf(quote['quote_id'])),
    quantity: numberOf(quote['quantity']),
    ...more,
  });
  return await venue.post(`/v1/orders/${side}`, body);
}

/** A client id that no other run has used, because an id may not be used again for a day. */
export const clientId = (name: string): string => `${name}-${process.pid}-${Date.now()}`;

/**
 * A limit order far below the market, by the documented body of the route: the specification shows no other way to an
 * order that can be canceled.
 */
export const limitOrderBody = (more: Readonly<Record<string, string | undefined>> = {}): string =>
  json({ currency_pair: quoted(pair), algorithm_id: '201', quantity, price: '1000', ...more });
