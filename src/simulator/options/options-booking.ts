import { z } from 'zod';
import { camelKeys, decimal, milliseconds, share } from './options-parts.ts';
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
  stamps: z
    .enum(['executed', 'booked'])
    .default('executed')
    .describe('Timestamp of the rows: time of the execution, or time of the booking'),
  prices: z
    .enum(['quoted', 'uneven'])
    .default('quoted')
    .describe('uneven: each trade has its own price, and the amounts sum to the quoted amount'),
  fees: z.enum(['shared', 'first']).default('shared').describe('first: the first trade pays the whole fee'),
  second_execution: share
    .default(0)
    .describe("Share of orders that are executed twice, against the venue's rules; the account pays twice"),
  second_execution_ms: milliseconds.default(0).describe('Time from the first execution to the second'),
}; // prettier-ignore

export const bookingSchema = z.lazy(() => z.strictObject(bookingFields).transform(camelKeys));

/** How orders are booked. */
export type BookingOptions = CamelKeys<z.output<z.ZodObject<typeof bookingFields>>>;
