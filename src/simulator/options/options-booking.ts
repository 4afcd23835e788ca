import { z } from 'zod';
import { bps, camelKeys, decimal, milliseconds, share, signed } from './options-parts.ts';
import type { CamelKeys } from './options-parts.ts';

/** Maximum number of trades of one order. */
const TRADES_MAX = 50;
const HOUR_MS = 3_600_000;

const trades = z.int().min(1).max(TRADES_MAX);

/** How the venue books an executed order: the fields of the setting `booking` and of the fault of that name. */
export const bookingFields = {
  trades_per_order: z
    .union([trades, z.strictObject({ least: trades.describe('Minimum number of trades of an order'), most: trades.describe('Maximum number of trades of an order') }).refine(({ least, most }) => least <= most, { error: 'least must not be above most' })])
    .default(1)
    .describe('Number of trades for each order; with a range such as { least: 1, most: 4 }, the number is drawn for each order'),
  shares: z
    .array(decimal)
    .max(TRADES_MAX)
    .optional()
    .describe('Share of the order in the first trade, the second trade, and so on, such as "0.9995"; the last trade has the rest. Default: random shares of different sizes'),
  delays_ms: z
    .array(milliseconds)
    .min(1)
    .max(TRADES_MAX)
    .default([0])
    .describe('Delay from the execution until the rows of the first trade appear, then of the second trade, and so on; the last delay in the list applies to all further trades'),
  delay_spread_ms: milliseconds.default(0).describe('Random delay, drawn uniformly from zero to this, that is added to each delay'),
  leg_gap_ms: z
    .int()
    .min(-HOUR_MS)
    .max(HOUR_MS)
    .default(0)
    .describe('Delay of the quote currency row after the base currency row; if negative, the quote currency row comes first'),
  leg_spread_ms: milliseconds.default(0).describe('Random delay, drawn uniformly from zero to this for each row of each trade, that is added to its delay'),
  last_leg_ms: milliseconds.default(0).describe('Further delay of the quote currency row of the last trade'),
  stamps: z
    .enum(['executed', 'booked'])
    .default('executed')
    .describe('Timestamp of the rows: time of the execution, or time of the booking'),
  prices: z
    .enum(['quoted', 'uneven'])
    .default('quoted')
    .describe('uneven: each trade has its own price, and the amounts sum to the quoted amount'),
  fees: z.enum(['shared', 'first']).default('shared').describe('first: the first trade pays the whole fee'),
  fee_bps: bps.optional().describe('Fee of the order, basis points; default: that of the venue'),
  fee_as: z
    .enum(['quote', 'base', 'charge'])
    .default('quote')
    .describe('Where the fee is booked: on the quote currency row, in base currency on the base currency row, or as a Charge row with the ids of the order'),
  fee_row_ms: milliseconds.default(0).describe('Time from the execution until the Charge row is booked'),
  rebate_bps: bps.default(0).describe('Rebate of the order, in quote currency, basis points, booked as a Credit row with the ids of the order'),
  rebate_ms: milliseconds.default(0).describe('Time from the execution until the Credit row is booked'),
  amended: z
    .strictObject({
      after_ms: milliseconds.default(0).describe('Time from the execution until the change'),
      leg: z.enum(['base', 'quote']).default('quote').describe('Row that changes'),
      amount: signed.default('0').describe('Increase of the amount without its sign; negative: decrease'),
      fee: decimal.default('0').describe('Increase of the fee, in the currency of the row'),
    })
    .optional()
    .describe('Change of a booked row of the first trade; the balances of this row, of all later rows and of the account follow'),
  renumbered_after_ms: milliseconds.optional().describe('Time from the execution after which the rows of the order are listed under new ids; default: never'),
  canceled_copy: share
    .default(0)
    .describe('Share of orders that an intermediary delivers twice: one copy is executed, and the response is that of the other, which is Canceled'),
  second_execution: share
    .default(0)
    .describe("Share of orders that are executed twice, against the venue's rules; the account pays twice"),
  second_execution_ms: milliseconds.default(0).describe('Time from the first execution to the second'),
}; // prettier-ignore

export const bookingSchema = z.lazy(() => z.strictObject(bookingFields).transform(camelKeys));

/** How orders are booked. */
export type BookingOptions = CamelKeys<z.output<z.ZodObject<typeof bookingFields>>>;
