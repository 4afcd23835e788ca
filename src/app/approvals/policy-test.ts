import { resolve } from 'node:path';
import {
  builtInPolicy,
  isOneMore,
  isRequestKind,
  requirementOf,
  requirementWords,
} from '../../core/approvals/approval-policy.ts';
import type { ApprovalPolicy, PolicyQuestion, Requirement } from '../../core/approvals/approval-policy.ts';
import { uncoveredKinds } from '../../core/approvals/policy-faults.ts';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { isAmountText, money } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import { isOverridable } from '../../core/risk/override.ts';
import { readConfig } from '../config/config.ts';
import type { Config, Mode } from '../config/config.ts';
import { formatProblems } from '../config/problems.ts';
import { readStrategies } from '../strategies/strategies.ts';
import type { CommandIo } from '../commands/io.ts';

export interface PolicyTestOptions {
  readonly config: string;
  readonly mode?: Mode | undefined;
  readonly kind?: string | undefined;
  readonly parent?: string | undefined;
  readonly strategy?: string | undefined;
  readonly rearm?: boolean | undefined;
  readonly override?: string | undefined;
  readonly of?: string | undefined;
  readonly by?: string | undefined;
  readonly json?: boolean | undefined;
}

interface Tested extends Requirement {
  readonly asks: string;
  /** Whether the request needs one more person than the rule says, because the requester is not known. */
  readonly isOneMore: boolean;
}

/** Returns the rules of `operate.policy`, or the defaults without it. */
export const policyOfConfig = ({ operate }: Config): ApprovalPolicy =>
  operate?.approvals ?? builtInPolicy(operate?.fourEyes === true);

/** Exit code for a blocked request, which nobody may allow. */
const BLOCKED = 77;

/** Prints what a request would need. Exit codes: 0 nothing, 75 approvals, 77 blocked, 64 and 78 as everywhere. */
export function policyTest(options: PolicyTestOptions, io: CommandIo): number {
  const read = readConfig(options.config, { env: io.env, cwd: io.cwd, now: io.now, mode: options.mode });
  const config = read.loaded?.config;
  if (config === undefined) {
    io.stderr.write(formatProblems(read.problems, { colour: io.colour }));
    return exitCodes.config;
  }
  const policy = policyOfConfig(config);
  const questions = questionsOf(options, config, io);
  if (questions === undefined) return exitCodes.config;
  const tested = questions.map(({ asks, ...question }): Tested => ({
    asks,
    isOneMore: isOneMore(policy, { ...question, by: options.by }),
    ...requirementOf(policy, { ...question, by: options.by }),
  }));
  if (options.json === true) io.stdout.write(`${JSON.stringify({ requests: tested.map(plain) })}\n`);
  else {
    const lines = tested.map((one) => `${one.asks}: ${requirementWords(one)}${whereOf(config, one)}`);
    const open = uncoveredKinds(policy);
    const note =
      config.operate?.approvals === undefined || open.length === 0
        ? []
        : [`blocked if no rule matches: requests for ${open.join(', ')}`];
    io.stdout.write(`${[...lines, ...note].join('\n')}\n`);
  }
  if (tested.some(({ outcome }) => outcome === 'block')) return BLOCKED;
  return tested.some(({ outcome }) => outcome === 'require') ? exitCodes.again : 0;
}

function whereOf(
  { operate }: Config,
  { rule, outcome, withinMs, passkey, isOneMore: isMore }: Tested,
): string {
  const more = isMore ? ', one more than the rule, because the requester is not known' : '';
  const time = outcome === 'require' ? `${more}, within ${Math.round(withinMs / 60_000)} min` : '';
  const key = passkey === undefined ? '' : `, passkey ${passkey}`;
  if (operate?.approvals === undefined) return `${time} (built in: there is no operate.policy)`;
  return rule === undefined ? ' (no rule of operate.policy matches)' : `${time}${key} (rule ${rule})`;
}

const plain = ({ asks, outcome, needs, rule, passkey, withinMs }: Tested): object => ({
  asks,
  outcome,
  needs,
  ...(rule === undefined ? {} : { rule }),
  ...(passkey === undefined ? {} : { passkey }),
  ...(outcome === 'require' ? { within_s: withinMs / 1_000 } : {}),
});

type Question = PolicyQuestion & { readonly asks: string };

/**
 * Returns the requests to test; `undefined` after reporting why a strategy file cannot be read. @throws OperatorError
 * `usage`
 */
function questionsOf(
  options: PolicyTestOptions,
  config: Config,
  io: CommandIo,
): readonly Question[] | undefined {
  const { kind, parent, strategy, rearm, override, of } = options;
  const questions: Question[] = [];
  if (kind !== undefined && isRequestKind(kind)) questions.push({ kind, asks: kind });
  if (rearm === true) questions.push({ kind: 'rearm', asks: 'rearm' });
  if (override !== undefined) {
    if (!isOverridable(override))
      throw new OperatorError('usage', `--override: ${override} cannot be overridden`);
    questions.push({ kind: 'override', limit: override, asks: `override of ${override}` });
  }
  if (parent !== undefined)
    questions.push({
      kind: 'parent',
      amount: amountOf(parent, config),
      ...(of === undefined ? {} : { strategy: of }),
      asks: `parent of ${parent}`,
    });
  if (strategy !== undefined) {
    const found = readStrategies([resolve(io.cwd, strategy)], config, io);
    if (found.problems.length > 0) {
      io.stderr.write(formatProblems(found.problems, { colour: io.colour }));
      return undefined;
    }
    for (const { id } of found.strategies)
      questions.push({ kind: 'strategy', strategy: id, asks: `strategy ${id}` });
  }
  if (questions.length === 0)
    throw new OperatorError(
      'usage',
      'name what to test: --parent AMOUNT, --strategy FILE, --rearm, --override LIMIT or --kind KIND',
    );
  return questions;
}

/** Reads `150000usd` or `150000`, in the currency of the limits. @throws OperatorError `usage` */
function amountOf(given: string, { controls }: Config): Money {
  const { currency } = controls.orderNotionalMax;
  const { amount = '', named = currency } =
    /^(?<amount>[\d.]+)\s*(?<named>[a-z]+)?$/u.exec(given)?.groups ?? {};
  if (!isAmountText(amount))
    throw new OperatorError('usage', `--parent: expected an amount such as 150000${currency}`);
  if (named !== currency)
    throw new OperatorError('usage', `--parent: write the amount in ${currency}, the currency of the limits`);
  return money(amount);
}
