import { z } from 'zod';
import { exact, jsonReader } from '../core/text/json.ts';
import type { JsonReader } from '../core/text/json.ts';
import { isAmountText, money, price, quantity, ratio, text } from '../core/money.ts';
import type { AnyAmount } from '../core/money.ts';
import { parseIso } from '../core/time.ts';

/**
 * Names of all fields of the venue's REST interface whose numbers are amounts. The parser reads amounts from their source text at
 * any depth. Counts, ids, timestamps and flags are safe as ordinary numbers.
 */
const AMOUNT_FIELDS = [
  'quantity', 'amount', 'buy_price', 'sell_price', 'price', 'net_market_amount', 'filled', 'vwap', 'filled_amount', 'fees',
  'net_proceeds', 'account_balance', 'AccountTransferFee', 'min_withdrawal', 'interest_rate', 'usd_value', 'fee', 'threshold',
  'balance', 'available', 'held', 'last', 'open', 'high', 'low', 'volume', 'makerRate', 'nprRate', 'nprOffRate',
  'open_price', 'high_price', 'low_price', 'close_price', 'exposure', 'available_exposure', 'exposure_limit', 'equity',
  'equity_for_withdrawals', 'current_loan_qty', 'interest_qty', 'proceeds', 'amount_usd', 'atx_amount', 'usd_notional',
  'trading_wallet', 'collateral_wallet', 'borrow_wallet', 'lending_wallet', 'subtotal', 'total',
] as const; // prettier-ignore

/** Parses a body from the venue. @throws SyntaxError if it is not JSON. */
export const readBody: JsonReader = jsonReader(AMOUNT_FIELDS);

const UNLISTED =
  'read as a number, which loses digits: name this field in AMOUNT_FIELDS of src/wire/message.ts';

/**
 * Returns the schema of an amount on the wire: a JSON number, read from its source text, or a string. `wire` states for generated
 * documents which of the two the venue writes: a number for most amounts, a string for a few, `either` where sources disagree.
 */
const amount = <A>(read: (written: string) => A, wire: 'number' | 'text' | 'either' = 'number') =>
  z
    .string({ error: ({ input }) => (typeof input === 'number' ? UNLISTED : undefined) })
    .meta({ wire })
    .transform((written, context): A => {
      if (isAmountText(written)) return read(written);
      context.addIssue({ code: 'custom', message: 'expected a decimal number' });
      return z.NEVER;
    });
export const wirePrice = amount(price);
export const wireQuantity = amount(quantity);
export const wireMoney = amount(money);
export const wireRatio = amount(ratio);
/** Amounts that the venue writes as strings. */
export const textPrice = amount(price, 'text');
export const textQuantity = amount(quantity, 'text');
export const textMoney = amount(money, 'text');
/** Amounts that are strings in one sample and numbers in another. */
export const eitherPrice = amount(price, 'either');
export const eitherQuantity = amount(quantity, 'either');

/** Writes an amount as a JSON number that keeps all its digits. */
export const numberOf = (each: AnyAmount): object => exact(text(each));

/**
 * Parses a body and keeps every number as text, for lists of numbers without field names, such as an order book.
 *
 * @throws SyntaxError when the body is not JSON.
 */
export function readNumbersAsText(source: string): unknown {
  // In valid JSON, every string is terminated. On other input, the pattern below would take quadratic time.
  JSON.parse(source);
  const quoted = source.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gu, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  );
  return JSON.parse(quoted) as unknown;
}

export const wireIso = z.string().transform((value, context) => {
  const at = parseIso(value);
  if (at !== undefined) return at;
  context.addIssue({ code: 'custom', message: 'expected an ISO 8601 time with its offset' });
  return z.NEVER;
});

/** An id that is a number or a string on the wire. */
export const wireId = z.union([z.string().min(1).max(128), z.int().nonnegative()]).transform(String);

/** The value of a message, or why it could not be read. `extras` holds the names of fields that the schema does not know. */
export type Read<T> =
  | { readonly ok: true; readonly value: T; readonly extras: readonly string[] }
  | { readonly ok: false; readonly why: string };

/** Checks a parsed body against `schema`. Unknown fields are allowed, and named in `extras`. */
export function readMessage<T>(schema: z.ZodType<T>, body: unknown): Read<T> {
  const result = schema.safeParse(body);
  if (!result.success) {
    const [first] = result.error.issues;
    return {
      ok: false,
      why: `${first?.path.map(String).join('.') ?? ''}: ${first?.message ?? 'unreadable'}`,
    };
  }
  const walk = walkOf(schema);
  if (walk === undefined) return { ok: true, value: result.data, extras: [] };
  const extras = new Set<string>();
  walk(body, extras);
  return { ok: true, value: result.data, extras: [...extras] };
}

/** Adds the names of the fields of `body` that a schema does not know. */
type Walk = (body: unknown, into: Set<string>) => void;

const walks = new WeakMap<z.ZodType, Walk | undefined>();

/**
 * Returns the function that finds extra fields in bodies of `schema`. It is built once, because inspecting a zod schema takes
 * longer than reading a quote.
 */
function walkOf(schema: z.ZodType): Walk | undefined {
  if (walks.has(schema)) return walks.get(schema);
  const walk = makeWalk(schema);
  walks.set(schema, walk);
  return walk;
}

/** Builds that function. It inspects only the first row of a list, because the venue does not mix shapes within one response. */
function makeWalk(schema: unknown): Walk | undefined {
  if (schema instanceof z.ZodPipe) return makeWalk(schema.in);
  // The first branch is the expected row; the others represent rows that cannot be read.
  if (schema instanceof z.ZodUnion) return makeWalk(schema.options[0]);
  if (schema instanceof z.ZodArray) {
    const row = makeWalk(schema.element);
    return row && ((body, into) => Array.isArray(body) && body.length > 0 && row(body[0], into));
  }
  if (schema instanceof z.ZodRecord) {
    const value = makeWalk(schema.valueType);
    return (
      value && ((body, into) => isObject(body) && Object.values(body).forEach((each) => value(each, into)))
    );
  }
  if (!(schema instanceof z.ZodObject)) return undefined;
  const known = new Map(Object.entries(schema.shape).map(([key, field]) => [key, makeWalk(field)]));
  return (body, into) => {
    if (!isObject(body)) return;
    for (const key of Object.keys(body)) {
      if (known.has(key)) known.get(key)?.(body[key], into);
      else into.add(key);
    }
  };
}

export const isObject = (body: unknown): body is Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null;
