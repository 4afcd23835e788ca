import { z } from 'zod';
import { isAmountText, ratio } from '../core/money.ts';
import { checkZone, parseDuration, parseTime } from '../core/time.ts';

/** Fields that strategies and the config share. Messages tell the operator what is wrong and what to write instead. */

const bareNumber = 'write amounts as quoted strings, such as "1.5": a bare YAML number may lose digits';

export const decimalText = z
  .string({
    error: (issue) =>
      typeof issue.input === 'number' ? bareNumber : 'expected an amount as a quoted string, such as "1.5"',
  })
  .refine((value) => isAmountText(value) && !/e/iu.test(value), {
    error: 'expected a plain decimal such as "0.25"',
  });

export const positiveText = decimalText.refine((value) => !/^-|^0*(?:\.0*)?$/u.test(value), {
  error: 'expected an amount above zero',
});

/** A fraction between 0 and 1, as a quoted string. */
export const fractionText = decimalText.refine(
  (value) => isAmountText(value) && ratio(value).gte(0) && ratio(value).lte(1),
  {
    error: 'expected a fraction from "0" to "1": 2 % is "0.02"',
  },
);

export const currencySymbol = z
  .string()
  .regex(/^[a-z0-9]{2,12}$/u, { error: 'expected a currency symbol in lower case, such as btc' });

export const pairSymbol = z
  .string()
  .regex(/^[a-z0-9]{4,24}$/u, { error: 'expected a pair in lower case without a separator, such as btcusd' });

/** The side of a kind that trades one pair in one direction. */
export const sideField = z.enum(['buy', 'sell'], { error: 'expected buy or sell' }).describe('buy or sell');

/** An amount with its currency: `{ amount: "1.5", currency: btc }`. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const amountOf = (what: string) =>
  z
    .strictObject(
      {
        amount: positiveText.describe('Plain decimal as a quoted string'),
        currency: currencySymbol.describe('Currency of the amount'),
      },
      {
        error: (issue) =>
          issue.code === 'invalid_type' ? 'expected { amount: "1.5", currency: btc }' : undefined,
      },
    )
    .describe(what);

export type AmountField = Readonly<z.output<ReturnType<typeof amountOf>>>;

/** Returns a check that reads the text. The reader's error becomes the message. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- a refinement of zod
export const reads =
  (read: (text: string) => unknown) => (value: string, context: z.RefinementCtx<string>) => {
    try {
      read(value);
    } catch (cause) {
      context.addIssue({ code: 'custom', message: cause instanceof Error ? cause.message : 'unreadable' });
    }
  };

/** ISO 8601 duration, kept as text. */
export const durationText = z.string().superRefine(reads(parseDuration));
/** A time with its zone, kept as text. */
export const timeText = z.string().superRefine(reads(parseTime));
/** An IANA time zone. */
export const zoneText = z.string().superRefine(reads(checkZone));

export const whole = z.int({
  error: (issue) =>
    issue.code === 'invalid_type' ? 'expected a whole number without quotation marks' : undefined,
});
export const plainNumber = z.number({ error: 'expected a number without quotation marks' });
