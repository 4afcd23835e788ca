import { z } from 'zod';
import { parseDuration, parseTime } from '../../core/time.ts';
import { LIMIT_DEFAULT, LIMIT_MAX } from './page-limits.ts';

/** Parts shared by the schemas of the API. Unknown values are omitted. */

export const amount = z.string().describe('A decimal as text, so that every digit arrives');
export const time = z.string().describe('ISO 8601, UTC');
export const seconds = z.number().describe('Seconds');
export const count = z.int().min(0);
export const side = z.enum(['buy', 'sell']);
export const seq = z.int().describe('Number of the record in the journal');
export const severity = z.enum(['info', 'warning', 'critical']);
export const control = z.enum(['active', 'paused', 'reducing', 'halted']);
export const facts = z.record(z.string(), z.unknown()).describe('Subject of the alert');
export const list = <T extends z.ZodType>(of: T): z.ZodReadonly<z.ZodArray<T>> => z.array(of).readonly();

/** One page of a list. */
export const page = <T extends z.ZodType>(
  item: T,
): z.ZodObject<{ items: z.ZodReadonly<z.ZodArray<T>>; next: z.ZodOptional<z.ZodString> }, z.core.$strict> =>
  z.strictObject({
    items: list(item),
    next: z
      .string()
      .optional()
      .describe('Send it as `after` to read the next items. Omitted if there are none'),
  });

const isMoment = (text: string): boolean => {
  try {
    if (text.startsWith('P')) parseDuration(text);
    else parseTime(text);
    return true;
  } catch {
    return false;
  }
};

/** A moment in a query. */
export const moment = z
  .string()
  .max(64)
  .refine(isMoment, 'expected a time such as 2026-12-01T09:00:00Z, or a duration before now such as PT4H');

/** Parameters of every list that has pages. */
export const paging = {
  limit: z
    .stringFormat('count', /^[1-9]\d{0,8}$/u)
    .transform(Number)
    .refine((n) => n <= LIMIT_MAX, `expected a whole number from 1 to ${LIMIT_MAX}`)
    .optional()
    .describe(`Maximum number of items on the page, 1 to ${LIMIT_MAX}. Default: ${LIMIT_DEFAULT}`),
  after: z.string().max(100).optional().describe('`next` of the previous page'),
};

/** Order of a list that follows the journal. */
export const order = z
  .enum(['oldest', 'newest'])
  .optional()
  .describe('Order of the items. Default: `oldest`');

export const span = {
  since: moment.optional().describe('Only since this time: ISO 8601, or a duration before now (`PT4H`)'),
  until: moment.optional().describe('Only before this time'),
};

export const name = z.string().min(1).max(200);
