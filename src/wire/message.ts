import { z } from 'zod';
import { jsonReader } from '../core/json.ts';
import type { JsonReader } from '../core/json.ts';
import { isAmountText, money, price, quantity, ratio } from '../core/money.ts';
import { parseIso } from '../core/time.ts';

/**
 * Names of all fields of the venue's REST interface whose numbers are amounts. They are read from their source text,
 * wherever they stand. Fields that count or name things (ids, timestamps, flags) are safe as ordinary numbers.
 */
const AMOUNT_FIELDS = [
  'quantity', 'amount', 'buy_price', 'sell_price', 'price', 'net_market_amount', 'filled', 'vwap', 'filled_amount', 'fees',
  'net_proceeds', 'account_balance', 'AccountTransferFee', 'min_withdrawal', 'interest_rate', 'usd_value', 'fee', 'threshold',
  'balance', 'available', 'held', 'last', 'open', 'high', 'low', 'volume',
] as const; // prettier-ignore

/** Reads a body of the venue. Throws `SyntaxError` when it is not JSON. */
export const readBody: JsonReader = jsonReader(AMOUNT_FIELDS);

/** An amount on the wire: read from its source text, or sent as text by the venue itself. */
const amountText = z.string().refine(isAmountText, { error: 'expected a decimal number' });
export const wirePrice = amountText.transform(price);
export const wireQuantity = amountText.transform(quantity);
export const wireMoney = amountText.transform(money);
export const wireRatio = amountText.transform(ratio);

export const wireIso = z.string().transform((value, context) => {
  const at = parseIso(value);
  if (at !== undefined) return at;
  context.addIssue({ code: 'custom', message: 'expected an ISO 8601 time with its offset' });
  return z.NEVER;
});

/** An id that arrives as a number or as text. */
export const wireId = z.union([z.string().min(1).max(128), z.int().nonnegative()]).transform(String);

/** A message that was read, or why it could not be. `extras` are the names of fields that the schema does not know. */
export type Read<T> =
  | { readonly ok: true; readonly value: T; readonly extras: readonly string[] }
  | { readonly ok: false; readonly why: string };

/** Checks a parsed body against `schema`. Fields the schema does not know are tolerated and named in `extras`. */
export function readMessage<T>(schema: z.ZodType<T>, body: unknown): Read<T> {
  const result = schema.safeParse(body);
  if (!result.success) {
    const [first] = result.error.issues;
    return { ok: false, why: `${first?.path.map(String).join('.') ?? ''}: ${first?.message ?? 'unreadable'}` };
  }
  const extras = new Set<string>();
  collectExtras(schema, body, extras);
  return { ok: true, value: result.data, extras: [...extras] };
}

/** Lists need only their first row looked at: the venue does not mix shapes within one answer. */
function collectExtras(schema: unknown, body: unknown, into: Set<string>): void {
  if (schema instanceof z.ZodPipe) collectExtras(schema.in, body, into);
  else if (schema instanceof z.ZodArray && Array.isArray(body)) {
    if (body.length > 0) collectExtras(schema.element, body[0], into);
  } else if (schema instanceof z.ZodObject && typeof body === 'object' && body !== null) {
    const shape = schema.shape as Readonly<Record<string, unknown>>;
    for (const [key, value] of Object.entries(body)) {
      if (!Object.hasOwn(shape, key)) into.add(key);
      else collectExtras(shape[key], value, into);
    }
  }
}
