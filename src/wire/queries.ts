import { z } from 'zod';
import { instant } from '../core/time.ts';
import { candlePeriods } from './market.ts';
import { marginTypes } from './pts.ts';
import { feeChannels } from './withdrawal.ts';

/** Query parameters of the venue's routes. */

const whole = z
  .string()
  .regex(/^\d{1,15}$/u, { error: 'expected a whole number' })
  .transform(Number);
const time = whole.transform(instant);

const actions = ['charge', 'deposit', 'withdraw', 'credit', 'buy', 'sell'] as const;

export const transactionsQuery = z.object({
  from: time.optional(),
  to: time.optional(),
  limit: whole.refine((count) => count > 0, { error: 'expected at least 1' }).optional(),
  after: whole.optional(),
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

export const listQuery = z.object({
  limit: whole.refine((count) => count > 0, { error: 'expected at least 1' }).optional(),
  before: whole.optional(),
  after: whole.optional(),
  action: z.enum(['buy', 'sell']).optional(),
  currency_pair: z.string().max(32).optional(),
  algorithm_id: whole.optional(),
  status: z.string().max(64).optional(),
});

export const cancelQuery = z.object({
  ids: z
    .string({ error: 'expected order ids separated by commas' })
    .min(1)
    .transform((given) => given.split(',').map((each) => each.trim()))
    .refine((ids) => ids.length <= IDS_MAX, { error: `expected at most ${IDS_MAX}` }),
});

export const tradesQuery = z.object({
  page_size: whole.refine((count) => count > 0, { error: 'expected at least 1' }).optional(),
  last_seen_id: z.string().max(128).optional(),
});

export const feeQuery = z.object({ channel: z.enum(feeChannels).optional() });

export const requestsQuery = z.object({
  pending: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .default(false),
});

/** Maximum number of rows on a page of positions or interest. */
export const PAGE_MAX = 100;

export const candlesQuery = z.object({
  pair: z.string().min(1).max(32),
  startTime: whole,
  endTime: whole,
  period: z
    .enum(['60', '300', '900', '3600', '21600', '86400'])
    .transform((value) => candlePeriods.find((period) => String(period) === value) ?? 60)
    .default(60),
});
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
export const interestQuery = z.object({
  limit: whole.refine((count) => count > 0, { error: 'expected at least 1' }).default(PAGE_MAX),
  before: whole.optional(),
  after: whole.optional(),
  start_date: z.string().optional(),
  end_date: z.string().optional(),
});
