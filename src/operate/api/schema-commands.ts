import { z } from 'zod';
import { parseDuration } from '../../core/time.ts';
import { ROWS_MAX, ROW_ID_MAX } from './page-limits.ts';
import { amount } from './schema-parts.ts';

/**
 * Bodies of the commands. A misspelt field is refused, because it must not make a command larger or different. Otherwise,
 * a resume of one pair would become a resume of the whole desk, and a trade with fees would be booked without them.
 */

const TEXT_MAX = 500;
const EXPECTED = `expected a text of 1 to ${TEXT_MAX} characters`;
/** A text that is not blank. */
export const text = z.string(EXPECTED).max(TEXT_MAX, EXPECTED).regex(/\S/u, EXPECTED);
const flag = z.boolean('expected true or false').optional();
const duration = text.transform((value, context) => {
  try {
    return parseDuration(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    context.addIssue(cause.message);
    return z.NEVER;
  }
});
const base = {
  why: text.describe('Reason, recorded in the journal'),
  by: text.optional().describe('Name of the person; only with the token of this machine'),
};
const scope = {
  parent: text.optional().describe('Only this parent'),
  pair: text.optional().describe('Only this pair'),
  strategy: text.optional().describe('Only this strategy'),
};

export const pause = z.strictObject({
  ...base,
  ...scope,
  reducing: flag.describe('true: orders that repay a borrowed balance are still allowed'),
  for: duration.optional().describe('Time after which the pause ends automatically, such as `PT30M`'),
});
export const resume = z.strictObject({ ...base, ...scope });
export const halt = z.strictObject({
  ...base,
  kill: flag.describe('true: this process can no longer send orders'),
});
export const reload = z.strictObject({
  ...base,
  dry_run: flag.describe('true: the desk only shows what would change'),
});
/** For one strategy: to stop it, or to run it now. */
export const stop = z.strictObject({ ...base, strategy: text });
export const rearm = z.strictObject({
  ...base,
  confirm: text.describe('The name of the desk'),
  with_open_doubts: flag,
});
export const resolve = z.strictObject({
  by: base.by,
  why: text.optional(),
  client_order_id: text,
  verdict: z
    .enum(['filled', 'not_executed', 'ours', 'not_ours'])
    .describe(
      '`ours`: `rows` belong to the order. `not_ours`: `rows` belong to no order of this desk. The doubt then ends by the account',
    ),
  rows: z
    .array(z.string().min(1).max(ROW_ID_MAX))
    .min(1)
    .max(ROWS_MAX)
    .readonly()
    .optional()
    .describe('With `ours` and `not_ours`: ids of rows that `/api/v1/doubts` shows as `unattributed`'),
  evidence: text,
  order_id: text.optional(),
  quantity: amount.optional(),
  amount: amount.optional(),
  fees: amount.optional(),
});
export type ResolveBody = z.output<typeof resolve>;
const requestHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/u)
  .describe('`hash` of the request that you reviewed; any other hash is refused');
export const decide = z.strictObject({ ...base, id: text, hash: requestHash });
const part = z
  .string()
  .regex(/^[\w-]{1,4096}$/u)
  .describe('base64url');
export const approve = z.strictObject({
  ...base,
  id: text,
  hash: requestHash,
  assertion: z
    .strictObject({
      credential_id: part,
      authenticator_data: part,
      client_data_json: part,
      signature: part,
    })
    .optional()
    .describe('What a passkey signed: a WebAuthn assertion whose challenge is the 32 bytes of `hash`'),
});
