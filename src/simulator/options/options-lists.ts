import { z } from 'zod';
import { camelKeys, milliseconds } from './options-parts.ts';
import type { CamelKeys } from './options-parts.ts';

const DAY_MS = 86_400_000;

/**
 * How the transactions route shows the rows of orders: the fields of the setting `lists` and of the fault of that name. They
 * change what a client reads, never the ledger.
 */
export const listFields = {
  ids: z
    .enum(['both', 'order_ids_only', 'client_ids_on_one_leg', 'no_order_ids'])
    .default('both')
    .describe('Ids that the rows of an order show: order id and client id, the order id only, the client id on the base currency row only, or the client id only'),
  ids_after_ms: milliseconds
    .default(0)
    .describe('Time after its appearance until a row shows its order id, client id and trade id'),
  client_ids: z
    .enum(['exact', 'upper_case', 'cut', 'uuid', 'dash', 'zero', 'prefixed'])
    .default('exact')
    .describe('Client ids as given, in capitals, cut to client_id_length, replaced by a UUID, by "-" or by "0", or with the prefix "x-"'),
  client_id_length: z.int().min(1).max(128).default(16).describe('Characters that remain of a client id that is cut'),
  trade_ids: z
    .enum(['own', 'shared', 'none'])
    .default('own')
    .describe('shared: all trades of an order show the trade id of the first. none: the rows show no trade id'),
  actions: z
    .enum(['order', 'leg'])
    .default('order')
    .describe('leg: each leg has its own action, Sell if it leaves the account and Buy if it arrives'),
  symbols: z
    .enum(['plain', 'slash', 'dash', 'none'])
    .default('plain')
    .describe('Spelling of the pair: btcusd, btc/usd, BTC-USD, or null'),
  clock_ms: z
    .int()
    .min(-DAY_MS)
    .max(DAY_MS)
    .default(0)
    .describe('Offset of the clock that stamps the rows; quotes keep the clock of the venue'),
  id_offset: z
    .string()
    .regex(/^\d{1,19}$/u, { error: 'expected a whole number as a quoted string' })
    .default('0')
    .describe('Added to the id of every row, such as "9007199254740992" for ids above 2^53'),
  odd_fields: z
    .array(z.enum(['numeric_memo', 'zoneless_day', 'empty_fees', 'empty_trade_ids', 'text_row_ids']))
    .default([])
    .describe('Fields of unusual type: memo as a number, day without a zone, fees of zero or the trade id as empty text, the id of a row as text'),
}; // prettier-ignore

export const listSchema = z.lazy(() => z.strictObject(listFields).transform(camelKeys));

/** How the rows of the transactions are shown. */
export type ListOptions = CamelKeys<z.output<z.ZodObject<typeof listFields>>>;

/** Every row as the ledger has it. */
export const AS_BOOKED: ListOptions = listSchema.parse({});
