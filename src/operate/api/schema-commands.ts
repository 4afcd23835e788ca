import { z } from 'zod';
import { ROWS_MAX, ROW_ID_MAX } from './page-limits.ts';
import { openWork } from './schema-desk.ts';
import { amount } from './schema-parts.ts';

/** Bodies of the commands, and their response. `commands.ts` refuses every other field. */

const text = z.string().min(1).max(500);
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
  reducing: z.boolean().optional().describe('true: orders that repay a borrowed balance are still allowed'),
  for: text.optional().describe('Time after which the pause ends automatically, such as `PT30M`'),
});
export const resume = z.strictObject({ ...base, ...scope });
export const halt = z.strictObject({
  ...base,
  kill: z.boolean().optional().describe('true: this process can no longer send orders'),
});
export const reload = z.strictObject({
  ...base,
  dry_run: z.boolean().optional().describe('true: the desk only shows what would change'),
});
/** For one strategy: to stop it, or to run it now. */
export const stop = z.strictObject({ ...base, strategy: text });
export const rearm = z.strictObject({
  ...base,
  confirm: text.describe('The name of the desk'),
  with_open_doubts: z.boolean().optional(),
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

/** The result of a command. If the desk refuses, the status is 409 with the same fields. */
export const answer = z.looseObject({
  done: z.boolean(),
  says: z.string().describe('The result in words'),
  ...openWork,
});
