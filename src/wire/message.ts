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
  'balance', 'available', 'held', 'last', 'open', 'high', 'low', 'volume',
  'exposure', 'available_exposure', 'exposure_limit', 'equity',
  'equity_for_withdrawals', 'liquidation_level', 'current_loan_qty', 'interest_qty', 'proceeds',
  'trading_wallet', 'collateral_wallet', 'borrow_wallet', 'lending_wallet',
] as const; // prettier-ignore

/** Names of fields whose numbers are ids of any size. */
const ID_FIELDS = ['id', 'order_id', 'client_order_id', 'trade_id', 'quote_id', 'atxid', 'AtxId'] as const;

/** Parses a body from the venue. @throws SyntaxError if it is not JSON. */
export const readBody: JsonReader = jsonReader({ amounts: AMOUNT_FIELDS, ids: ID_FIELDS });

const UNLISTED =
  'read as a number, which loses digits: name this field in AMOUNT_FIELDS of src/wire/message.ts';

/** Returns the schema of an amount on the wire: a JSON number, read from its source text, or a string. `wire` marks it for generated documents. */
const amount = <A>(read: (written: string) => A, wire: 'amount' | 'either' = 'amount') =>
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
/** Amounts of an order request, where the newest documents show strings and older ones numbers: the venue reads both. */
export const orderAmount = {
  price: amount(price, 'either'),
  quantity: amount(quantity, 'either'),
  amount: amount(money, 'either'),
};

/** Writes an amount as a JSON number that keeps all its digits. */
export const numberOf = (each: AnyAmount): object => exact(text(each));

export const wireIso = z.string().transform((value, context) => {
  const at = parseIso(value);
  if (at !== undefined) return at;
  context.addIssue({ code: 'custom', message: 'expected an ISO 8601 time with its offset' });
  return z.NEVER;
});

/** An id that is a number or a string on the wire. */
export const wireId = z.union([z.string().min(1).max(128), z.int().nonnegative()]).transform(String);

/** An id that is shown and may be empty: empty text for `null`, nothing and blank text. */
export const wireText = z
  .union([z.string(), z.int()])
  .nullish()
  .transform((value) => idText(value) ?? '');

/** Text of an id: a string, or a safe integer, because larger numbers arrive as text. `undefined` if blank or not an id. */
export function idText(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** An amount that counts as missing if it is empty text. */
export const orBlank = <A>(each: z.ZodType<A>): z.ZodType<A | null | undefined> =>
  z.preprocess((value) => (value === '' ? undefined : value), each.nullish());

/**
 * The schema that reads an object which `sent` describes: the fields in `used` are read as they state, and every other field
 * may be anything, or missing.
 */
export function usedFields<Used extends z.ZodRawShape>(sent: z.ZodObject, used: Used): z.ZodObject<Used> {
  const anything = Object.fromEntries(Object.keys(sent.shape).map((name) => [name, z.unknown().optional()]));
  return z.object({ ...anything, ...used });
}

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
