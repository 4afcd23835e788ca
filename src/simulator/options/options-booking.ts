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
    .describe('Number of trades for each order; a range such as { least: 1, most: 4 } is drawn for each order'),
  shares: z
    .array(decimal)
    .max(TRADES_MAX)
    .optional()
    .describe('Share of the order in the first trade, in the second, and so on, such as "0.9995"; the last trade has the rest. Default: random, uneven'),
  delays_ms: z
    .array(milliseconds)
    .min(1)
    .max(TRADES_MAX)
    .default([0])
    .describe('Delay from the execution until the rows of the first trade appear, of the second, and so on; the last one applies to all further trades'),
  delay_spread_ms: milliseconds.default(0).describe('Added to each delay, drawn uniformly from zero to this'),
  leg_gap_ms: z
    .int()
    .min(-HOUR_MS)
    .max(HOUR_MS)
    .default(0)
    .describe('Delay of the row of the quote currency after the row of the base currency; negative: before it'),
  stamps: z
    .enum(['executed', 'booked'])
    .default('executed')
    .describe('Timestamp of the rows: their execution, or their booking'),
  prices: z
    .enum(['quoted', 'uneven'])
    .default('quoted')
    .describe('uneven: each trade has its own price; the amounts sum to the amount of the quote'),
  fees: z.enum(['shared', 'first']).default('shared').describe('first: the first trade pays the whole fee'),
  second_execution: share
    .default(0)
    .describe('Share of orders that are executed twice, against the rules of the venue: the account pays twice'),
  second_execution_ms: milliseconds.default(0).describe('Time from the first execution to the second'),
}; // prettier-ignore

export const bookingSchema = z.lazy(() => z.strictObject(bookingFields).transform(camelKeys));

/** How orders are booked. */
export type BookingOptions = CamelKeys<z.output<z.ZodObject<typeof bookingFields>>>;
