import { z } from 'zod';
import { requestKinds } from '../../../core/approvals/approval-policy.ts';
import type { RequestKind } from '../../../core/approvals/approval-policy.ts';
import { overridable } from '../../../core/risk/limits.ts';
import { parseDuration } from '../../../core/time.ts';
import { durationText } from '../../../strategy/fields.ts';
import { moneyOf } from '../config-controls.ts';

/** The settings of `operate` that define who must approve which requests. */

const groupName = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/u, {
  error: 'expected 1 to 40 of a-z, 0-9, _ and -, beginning with a letter',
});
const personName = z
  .string()
  .regex(/^[\w.@-]{1,60}$/u, { error: 'expected 1 to 60 letters, digits and . @ _ -' });

export const groups = z
  .record(groupName, z.array(personName).min(1).max(50))
  .default({})
  .describe(
    'Groups of people, for operate.policy; people have the names that they have in operate.tokens or were invited with',
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
    count: z
      .int()
      .min(1)
      .max(20)
      .default(1)
      .describe('Number of different people who must agree; default: 1'),
    group: oneOrMore(groupName, GROUP_EXPECTED).describe(
      'Group, or list of groups, to which these people belong',
    ),
  }),
);

const DAYS_MAX = 30;
const rule = z.lazy(() =>
  z.strictObject({
    for: oneOrMore(kind, KIND_EXPECTED).describe(`Kind of request, or a list of kinds. ${KINDS}`),
    above: moneyOf('Only parents whose total exceeds this value, at the reference price').optional(),
    by: oneOrMore(groupName, GROUP_EXPECTED).optional().describe('Only requests by members of these groups'),
    strategies: z
      .array(z.string().min(1))
      .min(1)
      .max(1_000)
      .optional()
      .describe('Only these strategies; for the kinds parent and strategy'),
    limits: z
      .array(z.enum(overridable))
      .min(1)
      .optional()
      .describe('Only these limits; for the kind override'),
    outcome: z
      .enum(['allow', 'block'])
      .optional()
      .describe('allow: no approval is needed. block: the request is refused. Give this or require'),
    require: oneOrMore(need, 'expected { count: 1, group: risk }, or a list of these')
      .optional()
      .describe(
        'Who must agree; each entry needs different people, and the person who made the request never counts. Give this or outcome',
      ),
    passkey: z
      .enum(['required', 'optional'])
      .optional()
      .describe(
        'required: a passkey signs each approval. optional: a token is enough. Default: required once anyone has a passkey',
      ),
    within: durationText
      .transform(parseDuration)
      .refine((ms) => ms > 0 && ms <= DAYS_MAX * 86_400_000, { error: `expected at most P${DAYS_MAX}D` })
      .optional()
      .describe(
        'Time after which an undecided request is rejected; default: PT15M for the kinds override, rearm and doubt, for which it is also the maximum, and P1D for the other kinds',
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
    'Who must approve which requests: the first matching rule applies, and a request that no rule matches is blocked. Default: the rule that four_eyes implies',
  );

export type RawPolicy = z.output<typeof approvalPolicy>;
