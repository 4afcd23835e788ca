import type { Monotonic } from '../../core/time.ts';
import { faultPlanSchema } from './faults.ts';
import type { FaultPlan, FaultPlanInput, FeedFault, FeedRule, RestFault, RestRule } from './faults.ts';
import { hash32 } from '../market/random.ts';

/** A request or message that rules may match. */
export interface Met {
  /** Monotonic, ms. */
  readonly at: Monotonic;
  /** For a request, such as `POST /v1/quote`; for a message, its feed, `authenticate` or `subscribe`. */
  readonly what: string;
  /** Name of the account; `undefined` if unknown. */
  readonly account: string | undefined;
}

/** A fault to apply, and a random number in [0, 1) for it. */
export interface Strike<Fault> {
  readonly rule: string;
  readonly fault: Fault;
  readonly draw: number;
}

/** How often a rule matched, and how often it applied. */
export interface RuleCount {
  readonly name: string;
  readonly kind: string;
  readonly enabled: boolean;
  readonly met: number;
  readonly struck: number;
}

/**
 * Decides which faults apply. Each rule draws one number of its own seeded sequence for each request that it matches,
 * so that rules do not affect one another. The same plan and the same order of requests give the same faults on every
 * machine.
 */
export class Faults {
  private plan: FaultPlan = faultPlanSchema.parse({});
  private rules: readonly Armed<RestRule>[] = [];
  private feeds: readonly Armed<FeedRule>[] = [];

  /** `now`: monotonic, ms. The times in the plan count from it. @throws ZodError for an invalid plan. */
  constructor(plan: FaultPlanInput, now: Monotonic) {
    this.replace(plan, now);
  }

  /** Replaces the plan; all counts start again. @throws ZodError for an invalid plan. */
  replace(plan: FaultPlanInput, now: Monotonic): void {
    this.plan = faultPlanSchema.parse(plan);
    const { seed } = this.plan;
    this.rules = this.plan.rules.map((rule) => new Armed(rule, rule.route, { seed, now }));
    this.feeds = this.plan.feeds.map((rule) => new Armed(rule, rule.on, { seed, now }));
  }

  /** All faults for this request, in the order of the plan. */
  request(met: Met): readonly Strike<RestFault>[] {
    if (this.rules.length === 0) return [];
    return this.rules.flatMap((armed) => armed.meet(met) ?? []);
  }

  /** The first fault for this message; later rules do not match it. */
  message(met: Met): Strike<FeedFault> | undefined {
    for (const armed of this.feeds) {
      const strike = armed.meet(met);
      if (strike !== undefined) return strike;
    }
    return undefined;
  }

  /** Enables or disables a rule; false if there is no such rule. */
  enable(name: string, state: 'on' | 'off'): boolean {
    const found = [...this.rules, ...this.feeds].filter((armed) => armed.rule.name === name);
    for (const armed of found) armed.isOn = state === 'on';
    return found.length > 0;
  }

  counts(): readonly RuleCount[] {
    return [...this.rules, ...this.feeds].map((armed) => armed.count());
  }
}

/** A rule with its counters. */
class Armed<Rule extends RestRule | FeedRule> {
  readonly rule: Rule;
  isOn: boolean;
  private readonly pattern: RegExp;
  private readonly seed: string;
  private readonly startedAt: Monotonic;
  private met = 0;
  private struck = 0;

  constructor(rule: Rule, pattern: string, { seed, now }: { seed: string; now: Monotonic }) {
    this.rule = rule;
    this.isOn = rule.enabled;
    this.pattern = patternOf(pattern);
    this.seed = `${seed}\n${rule.name}`;
    this.startedAt = now;
  }

  meet({ at, what, account }: Met): Strike<Rule['fault']> | undefined {
    const { rule } = this;
    if (!this.isOn || !this.pattern.test(what)) return undefined;
    if (rule.account !== undefined && rule.account !== account) return undefined;
    const elapsed = at - this.startedAt;
    if (elapsed < rule.from_ms || (rule.until_ms !== undefined && elapsed > rule.until_ms)) return undefined;
    const turn = this.met;
    this.met += 1;
    if (!this.strikes(turn)) return undefined;
    this.struck += 1;
    return { rule: rule.name, fault: rule.fault, draw: this.draw(turn, 'size') };
  }

  count(): RuleCount {
    const { name, fault } = this.rule;
    return { name, kind: fault.kind, enabled: this.isOn, met: this.met, struck: this.struck };
  }

  private strikes(turn: number): boolean {
    const { skip, times, script, repeat, probability } = this.rule;
    if (turn < skip || (times !== undefined && this.struck >= times)) return false;
    const step = turn - skip;
    if (script !== undefined && script[repeat ? step % script.length : step] !== 'fault') return false;
    return probability === 1 || this.draw(turn, 'strike') < probability;
  }

  private draw(turn: number, purpose: 'strike' | 'size'): number {
    return hash32(`${this.seed}\n${purpose}\n${turn}`) / 2 ** 32;
  }
}

/** `*` matches any text, all other characters match themselves. */
const patternOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => RegExp.escape(part))
      .join('.*')}$`,
    'u',
  );
