import { z } from 'zod';
import { weekdays } from '../../core/hours.ts';
import { isAmountText, money, quantity, ratio } from '../../core/money.ts';
import { checkZone, parseDuration } from '../../core/time.ts';
import {
  amountOf,
  currencySymbol,
  decimalText,
  durationText,
  pairSymbol,
  plainNumber,
  positiveText,
  whole,
} from '../../strategy/fields.ts';

/** The limits of a config file. Each description states the unit and the default, and is the source of docs/controls.md. */

// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const moneyOf = (what: string) =>
  amountOf(what).transform(({ amount, currency }) => ({ amount: money(amount), currency }));

/** Basis points. A file may write them as a number, because they are not money. */
export const bps = z
  .union([plainNumber.min(0).max(10_000), positiveText], {
    error: 'expected basis points, such as 50 (half a percent)',
  })
  .transform((value) => ratio(String(value)));

const timeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, {
  error: 'expected a time of the day as a quoted string, such as "22:00"',
});

const timeZone = z
  .string()
  .default('UTC')
  .superRefine((zone, context) => {
    try {
      checkZone(zone);
    } catch (cause) {
      context.addIssue({ code: 'custom', message: cause instanceof Error ? cause.message : 'unknown zone' });
    }
  });

export const closedHours = z.lazy(() =>
  z
    .strictObject({
      from: timeOfDay.describe('Start of the span, local time'),
      to: timeOfDay.describe('End of the span, exclusive; on the next day if not later than from'),
      time_zone: timeZone.describe('IANA time zone; default: UTC'),
      days: z
        .array(z.enum(weekdays))
        .min(1)
        .max(7)
        .optional()
        .describe('Days on which the span starts; default: every day'),
    })
    .refine(({ from, to }) => from !== to, { path: ['to'], error: 'to must differ from from' }),
);

/** Balances by currency. A floor of zero forbids short positions. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const balances = (what: string) =>
  z
    .record(
      currencySymbol,
      z.union([positiveText, z.literal('0')], {
        error: 'expected an amount as a quoted string, such as "1.5"',
      }),
    )
    .transform(
      (all) => new Map(Object.entries(all).map(([currency, amount]) => [currency, quantity(amount)])),
    )
    .prefault({})
    .describe(what);

/** Like `balances`, but also accepts negative amounts. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const floors = (what: string) =>
  z
    .record(
      currencySymbol,
      decimalText.refine(isAmountText, {
        error: 'expected an amount as a quoted string, such as "1.5" or "-0.5"',
      }),
    )
    .transform(
      (all) => new Map(Object.entries(all).map(([currency, amount]) => [currency, quantity(amount)])),
    )
    .prefault({})
    .describe(what);

export const controls = z.strictObject({
  max_order_notional: moneyOf('Largest value of one order').optional(),
  max_day_notional: moneyOf(
    'Largest value of all orders of one UTC day; orders in doubt count as filled',
  ).optional(),
  max_pair_day_notional: z
    .record(pairSymbol, positiveText.transform(money))
    .default({})
    .describe(
      'Largest value of all orders of one pair in one UTC day, in the currency of max_day_notional, as a quoted string; default: max_day_notional',
    ),
  max_order_quantity: z
    .record(pairSymbol, positiveText.transform(quantity))
    .default({})
    .describe('Largest order of a pair in base currency, as a quoted string'),
  collar_bps: bps.optional().describe('Largest distance of a quote from the reference price, basis points'),
  max_drift_bps: bps
    .optional()
    .describe(
      'Largest adverse distance of a quote from the decision price, basis points; default: 150, or none in paper mode',
    ),
  max_open_doubts: whole
    .min(1)
    .max(100)
    .default(2)
    .describe('No slice starts while this many doubts are open; default: 2'),
  pairs: z.array(pairSymbol).min(1).max(500).optional().describe('Pairs that may be traded'),
  sides: z
    .array(z.enum(['buy', 'sell']))
    .min(1)
    .max(2)
    .optional()
    .describe('Sides that may be traded'),
  max_executions_per_minute: whole
    .min(1)
    .max(10_000)
    .optional()
    .describe(
      'Maximum number of slices of one pair that have an order in any minute; one more slice halts the desk; default: 5, or 120 in paper mode',
    ),
  max_executions_per_parent: whole
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      'Maximum number of slices of one parent that have an order; one more slice halts the desk; default: the number that the parent plans, or 50 without a plan',
    ),
  duplicate_window: durationText
    .transform(parseDuration)
    .prefault('PT2S')
    .describe('Shortest time between identical orders of two parents, ISO 8601; default: PT2S'),
  min_position: floors(
    'Smallest balance that an order may leave, by currency, as quoted strings; orders are cut so that this balance remains. A negative value allows that much debt where pts.use allows credit',
  ),
  max_position: balances('Largest balance that an order may produce, by currency, as quoted strings'),
  max_shortfall_bps: bps
    .optional()
    .describe(
      'Cost of a parent against its arrival price, basis points, above which the parent is paused; default: 100, or none in paper mode',
    ),
  max_day_cost: moneyOf(
    'Cost of all fills of one UTC day against their decision prices, fees included, above which the desk halts; default: none',
  ).optional(),
  balance_difference: z
    .enum(['halt', 'alert'])
    .default('halt')
    .describe(
      'Reaction when a balance has differed from the sum of the account rows for a minute: halt, or alert only; default: halt',
    ),
  restricted_hours: z.array(closedHours).max(100).default([]).describe('Spans of the day without trading'),
});
