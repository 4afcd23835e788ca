import { z } from 'zod';
import { requestKinds } from '../../../core/approvals/approval-policy.ts';
import type { RequestKind } from '../../../core/approvals/approval-policy.ts';
import { overridable } from '../../../core/risk/limits.ts';
import { parseDuration } from '../../../core/time.ts';
import { durationText } from '../../../strategy/fields.ts';
import { moneyOf } from '../config-controls.ts';

/** The settings of `operate` that say who must agree to what. */

const groupName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,39}$/u, { error: 'expected 1 to 40 of a-z, 0-9, _ and -, a letter first' });
const personName = z
  .string()
  .regex(/^[\w.@-]{1,60}$/u, { error: 'expected 1 to 60 letters, digits and . @ _ -' });

export const groups = z
  .record(groupName, z.array(personName).min(1).max(50))
  .default({})
  .describe(
    'Groups of people by name, for operate.policy; names as in operate.tokens or of people who were invited',
  );

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own keys
const kindNames = Object.keys(requestKinds) as [RequestKind, ...RequestKind[]];
const KIND_EXPECTED = `expected one or more of ${kindNames.join(', ')}`;
const GROUP_EXPECTED = 'expected the name of a group, or a list of names';
const kind = z.enum(kindNames, { error: KIND_EXPECTED });
const KINDS = Object.entries(requestKinds)
  .map(([name, does]) => `${name}: ${does}`)
  .join('; ');

// oxlint-disable-next-line typescript/explicit-function-return-type -- inferred by zod
const oneOrMore = <T extends z.ZodType>(element: T, error: string) =>
  z
    .union([element, z.array(element).min(1).max(50)], { error })
    .transform((given): readonly z.output<T>[] => (Array.isArray(given) ? given : [given]) as z.output<T>[]); // oxlint-disable-line typescript/no-unsafe-type-assertion -- one of both

const need = z.lazy(() =>
  z.strictObject({
    count: z.int().min(1).max(20).default(1).describe('So many different people; default: 1'),
    group: oneOrMore(groupName, GROUP_EXPECTED).describe('Of this group, or of any in a list'),
  }),
);

const DAYS_MAX = 30;
const rule = z.lazy(() =>
  z.strictObject({
    for: oneOrMore(kind, KIND_EXPECTED).describe(`What it is about, one or a list. ${KINDS}`),
    above: moneyOf('Only parents whose total is above this, at the reference price').optional(),
    by: oneOrMore(groupName, GROUP_EXPECTED).optional().describe('Only requests of members of these groups'),
    strategies: z
      .array(z.string().min(1))
      .min(1)
      .max(1_000)
      .optional()
      .describe('Only these strategies, for parent and strategy'),
    limits: z.array(z.enum(overridable)).min(1).optional().describe('Only these limits, for override'),
    outcome: z
      .enum(['allow', 'block'])
      .optional()
      .describe('allow: needs nobody else. block: nobody may. Instead of require'),
    require: oneOrMore(need, 'expected { count: 1, group: risk }, or a list of such')
      .optional()
      .describe('Who must agree, each line by other people; whoever asks never counts. Instead of outcome'),
    passkey: z
      .enum(['required', 'optional'])
      .optional()
      .describe(
        'required: an approval is signed by a passkey. optional: a token is enough. Default: required once anybody has a passkey',
      ),
    within: durationText
      .transform(parseDuration)
      .refine((ms) => ms > 0 && ms <= DAYS_MAX * 86_400_000, { error: `expected at most P${DAYS_MAX}D` })
      .optional()
      .describe(
        'A request that nobody decides in this time is rejected; default: PT15M for override, rearm and doubt, which is also their most, P1D for the others',
      ),
  }),
);

export const approvalPolicy = z
  .array(
    rule.superRefine((value, context) => {
      if ((value.outcome === undefined) === (value.require === undefined))
        context.addIssue({
          code: 'custom',
          message: 'write either outcome: allow, outcome: block, or require',
        });
    }),
  )
  .min(1)
  .max(100)
  .describe(
    'Who must agree to what: the first rule that matches counts, and what no rule matches is blocked. Default: what four_eyes says',
  );

export type RawPolicy = z.output<typeof approvalPolicy>;
