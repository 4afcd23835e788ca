import { z } from 'zod';
import { camelKeys, decimal, milliseconds } from './options-parts.ts';

/** Settings of an account besides quotes: resting orders, deposits and withdrawals, custody, the partner. */

const token = z.string().min(8).max(256).optional().describe('Bearer token; default: made from the seed');
const minutes = z.number().min(0).max(1_000_000);

export const userSchema = z.lazy(() =>
  z
    .strictObject({ name: z.string().min(1).max(64).describe('Name of the user'), token })
    .transform(camelKeys),
);

export const ordersSchema = z.lazy(() =>
  z
    .strictObject({
      check_interval_ms: milliseconds
        .min(10)
        .default(1_000)
        .describe('Interval between checks of the market for resting orders, ms'),
      cancel_delay_ms: milliseconds
        .default(0)
        .describe('How long a cancellation is pending, ms; 0: orders are canceled immediately'),
      fill_usd_max: decimal
        .optional()
        .describe('Largest fill of an order in one check, USD; default: the whole order'),
    })
    .transform(camelKeys),
);

export const withdrawalsSchema = z.lazy(() =>
  z
    .strictObject({
      step_minutes: minutes.default(5).describe('Minutes of market time between the states of a withdrawal'),
      wire_fee_domestic: decimal.default('25').describe('Fee of a domestic wire, usd'),
      wire_fee_international: decimal.default('45').describe('Fee of a wire abroad, usd'),
      ach_fee: decimal.default('0').describe('Fee of an ACH transfer, usd'),
      require_whitelist: z
        .boolean()
        .default(false)
        .describe('true: withdrawals go only to whitelisted addresses'),
      hold_usd: decimal.optional().describe('Withdrawals of at least this USD value are put on admin hold'),
    })
    .transform(camelKeys),
);

export const depositsSchema = z.lazy(() =>
  z
    .strictObject({
      step_minutes: minutes.default(5).describe('Minutes of market time between the states of a deposit'),
    })
    .transform(camelKeys),
);

const ruleSchema = z.lazy(() =>
  z
    .strictObject({
      rule_type: z
        .enum(['WITHDRAW', 'ADD_ALTER_COLL', 'ALTER_SAFE'])
        .default('WITHDRAW')
        .describe('Kind of action that the rule guards'),
      required_approvals: z.int().min(1).max(20).default(1).describe('Number of required approvals'),
      threshold: decimal.default('0').describe('Value in USD above which approvals are needed'),
    })
    .transform(camelKeys),
);

export const custodySchema = z.lazy(() =>
  z
    .strictObject({
      rules: z
        .array(ruleSchema)
        .max(100)
        .default([])
        .describe('Rules in force in every account from the start'),
      new_rule_status: z
        .enum(['Pending Approval', 'Pending'])
        .default('Pending Approval')
        .describe('Status of a new rule; the specification and a public sample differ'),
      address_ids: z
        .enum(['integer', 'uuid'])
        .default('integer')
        .describe('Type of the ids of whitelisted addresses; the specification and a public sample differ'),
      address_minutes: minutes
        .default(0)
        .describe('Minutes of market time for which a new address is pending'),
    })
    .transform(camelKeys),
);

export const partnerSchema = z.lazy(() =>
  z
    .strictObject({
      name: z.string().min(1).max(64).default('partner').describe('Account name of the partner'),
      token,
    })
    .transform(camelKeys),
);
