import { z } from 'zod';
import { instant } from '../core/time.ts';
import { marginTypes } from './pts.ts';
import { feeChannels } from './withdrawal.ts';

/** Query parameters of the venue's routes. */

const digits = z.string().regex(/^\d{1,15}$/u, { error: 'expected a whole number' });
const whole = digits.transform(Number);
const time = digits
  .meta({ format: 'unix-ms', description: 'Unix ms' })
  .transform((text) => instant(Number(text)));

/** An id of a transaction, which may be above 2^53. */
const rowId = z
  .string()
  .regex(/^\d{1,20}$/u, { error: 'expected a whole number' })
  .transform(BigInt);

const actions = ['charge', 'deposit', 'withdraw', 'credit', 'buy', 'sell'] as const;

export const transactionsQuery = z.object({
  from: time.optional(),
  to: time.optional(),
  limit: whole.refine((count) => count > 0, { error: 'expected at least 1' }).optional(),
  after: rowId.optional(),
  offset: whole.optional(),
  types: z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(z.enum(actions)))
    .transform((list): ReadonlySet<string> => new Set(list))
    .optional(),
  pending: z
    .enum(['true', 'false', '1', '0'])
    .transform((value) => value === 'true' || value === '1')
    .optional(),
});

export const historyQuery = z.object({
  start_date: time,
  end_date: time.optional(),
  interval: z.enum(['3600', '86400']).default('86400'),
});

const IDS_MAX = 1_000;

export const cancelQuery = z.object({
  ids: z
    .string({ error: 'expected order ids separated by commas' })
    .min(1)
    .transform((given) => given.split(',').map((each) => each.trim()))
    .refine((ids) => ids.length <= IDS_MAX, { error: `expected at most ${IDS_MAX}` }),
});

export const feeQuery = z.object({ channel: z.enum(feeChannels).optional() });

/** Maximum number of rows on a page of positions. */
export const PAGE_MAX = 100;

export const positionsQuery = z.object({
  status: z.enum(['active', 'closed']).default('active'),
  pair: z.string().max(32).optional(),
  loan_currency: z.string().max(12).optional(),
  collateral_currency: z.string().max(12).optional(),
  margin_type: z.enum(marginTypes).optional(),
  from: whole.optional(),
  to: whole.optional(),
  page_size: whole.refine((count) => count > 0, { error: 'expected at least 1' }).default(PAGE_MAX),
  page_cursor: whole.optional(),
});
