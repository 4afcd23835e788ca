import { add, apart, holding, NO_QUANTITY, quantity, text } from '../../../core/money.ts';
import type { Wake } from '../../../core/wake.ts';
import { checkDecimals } from '../../checks.ts';
import { defineStrategy } from '../../kernel.ts';
import type { AnyStrategy, CheckWorld, Context, Problem, Step, View } from '../../kernel.ts';
import { BrokenRule, FIRST, leftOf, params, state, totalOf } from './module-plan.ts';
import type { ModulePlan, ModuleState as State } from './module-plan.ts';
import { asked, readStep, waitsOf } from './module-step.ts';
import type { Kernel, Reader, View as OwnView, Wake as OwnWake } from '../../sdk.ts';

/** Ended intents that are remembered, so that a trade which turns up late can be told with its name. */
const ENDED_KEPT = 20;

type AnyKernel = Kernel<unknown, unknown>;

/**
 * The user's own kernel. Its steps see copies and return data; each is checked against what the document declares before any
 * of it counts. One that throws, returns what cannot be read or breaks a rule leaves nothing, and pauses its strategy.
 */
const moduleOf = (kernel: AnyKernel | undefined): AnyStrategy => ({
  ...defineStrategy<ModulePlan, State>({
    kind: 'module',
    summary: 'a kernel of your own, in a .ts or .js file beside this one',
    params,
    state,
    pairs: (plan) => plan.pairs,
    check: (plan, world) => [...checkPlan(plan, world), ...checkOwn(kernel, plan)],
    start: (plan, begunAt, view) =>
      guarded(FIRST, () => {
        const own = ownView(plan, FIRST, { begunAt, view });
        return lived(plan, FIRST, view, known(kernel).start(paramsOf(kernel, plan), own));
      }),
    step: (was, wake, plan, context) =>
      guarded(was, () => {
        const now = wake.on === 'outcome' ? settled(was, wake, plan) : was;
        if (now.isEnding) return ending(now);
        const told = ownWake(was, wake);
        const own = ownView(plan, now, context);
        // A copy, as all that it sees: the state itself is part of a record.
        const left: unknown = structuredClone(now.own);
        return lived(plan, now, context.view, known(kernel).step(left, told, paramsOf(kernel, plan), own));
      }),
    slots: () => [],
  }),
  withCode(exported) {
    const found = kernelIn(exported);
    return typeof found === 'string' ? { problem: found } : moduleOf(found);
  },
});

/** The kind as the registry holds it: without code it can be described, and not run. */
export const module = moduleOf(undefined);

function known(kernel: AnyKernel | undefined): AnyKernel {
  if (kernel === undefined) throw new BrokenRule('the code of the module was not loaded');
  return kernel;
}

const names = ['params', 'start', 'step'] as const;

/** The kernel that a module exports, or what is wrong with what it exports. */
function kernelIn(exported: unknown): AnyKernel | string {
  const isExports = typeof exported === 'object' && exported !== null;
  const named = isExports && 'kernel' in exported ? exported.kernel : undefined;
  const found = named ?? (isExports && 'default' in exported ? exported.default : undefined);
  const how = 'export const kernel = defineKernel({ params, start, step })';
  if (typeof found !== 'object' || found === null) return `it exports no kernel: write ${how}`;
  const given = found as Partial<Record<(typeof names)[number], unknown>>;
  const missing = names.filter((name) => given[name] === undefined);
  if (missing.length > 0) return `its kernel has no ${missing.join(', no ')}: write ${how}`;
  const wrong = (['start', 'step'] as const).filter((name) => typeof given[name] !== 'function');
  if (wrong.length > 0) return `${wrong.join(' and ')} of its kernel must be a function`;
  const reads = given.params;
  const isReader =
    typeof reads === 'function' ||
    (typeof reads === 'object' &&
      reads !== null &&
      'safeParse' in reads &&
      typeof reads.safeParse === 'function');
  if (!isReader) return 'params of its kernel must be a schema of zod, or a function';
  return found as AnyKernel; // oxlint-disable-line typescript/no-unsafe-type-assertion -- what it returns is checked at every step
}

function checkPlan(plan: ModulePlan, world: CheckWorld): readonly Problem[] {
  const { total_quantity: inBase, total_notional: inQuote, pairs } = plan;
  if ((inBase === undefined) === (inQuote === undefined)) {
    const message =
      'give either total_quantity or total_notional: the largest total that the module may trade';
    return [{ path: [inBase === undefined ? 'module' : 'total_notional'], message }];
  }
  return pairs.flatMap((pair, i): readonly Problem[] => {
    const currencies = world.currencies(pair);
    if (pairs.indexOf(pair) !== i) return [{ path: ['pairs', i], message: `${pair} is listed twice` }];
    if (currencies === undefined) return [];
    const [unit, meant] =
      inBase === undefined ? [inQuote?.currency, currencies.quote] : [inBase.currency, currencies.base];
    const field = inBase === undefined ? 'total_notional' : 'total_quantity';
    return unit === meant
      ? checkDecimals({ ...plan, pair }, { base: 'total_quantity', quote: 'total_notional' }, { world })
      : [
          {
            path: [field, 'currency'],
            message: `the total of ${pair} must be in ${meant}, not ${unit ?? ''}`,
          },
        ];
  });
}

/** What the module itself says of its `params`. */
function checkOwn(kernel: AnyKernel | undefined, plan: ModulePlan): readonly Problem[] {
  if (kernel === undefined) return [{ path: ['module'], message: 'its code was not loaded' }];
  try {
    const read = readParams(kernel.params, plan);
    return 'problems' in read ? read.problems : [];
  } catch (error) {
    return [{ path: ['params'], message: wordsOf(error) }];
  }
}

function readParams(
  reader: Reader<unknown>,
  plan: ModulePlan,
): { readonly params: unknown } | { readonly problems: readonly Problem[] } {
  const raw = structuredClone(plan.params);
  if (typeof reader === 'function') return { params: reader(raw) };
  const result = reader.safeParse(raw);
  if (result.success) return { params: result.data };
  return {
    problems: result.error.issues.map(({ path, message }) => ({
      path: ['params', ...path.map((part) => (typeof part === 'number' ? part : String(part)))],
      message,
    })),
  };
}

/** Read anew for each step: what a step does to them is gone with it. */
function paramsOf(kernel: AnyKernel | undefined, plan: ModulePlan): unknown {
  const read = readParams(known(kernel).params, plan);
  if ('params' in read) return read.params;
  throw new BrokenRule(`its params cannot be read: ${read.problems[0]?.message ?? ''}`);
}

/** Nothing that the kernel does ends more than its own strategy. */
function guarded(was: State, run: () => Step<State>): Step<State> {
  try {
    return run();
  } catch (error) {
    return { state: was, waits: [], fault: wordsOf(error) };
  }
}

const WORDS_MAX = 300;

/** Message of an error, with the line of the module. */
export function wordsOf(error: unknown): string {
  const said = error instanceof Error ? `${error.name}: ${error.message}` : `it threw ${typeof error}`;
  const words = (error instanceof BrokenRule ? error.message : said).split('\n')[0] ?? '';
  const line =
    error instanceof Error ? /tranche-module\/[^:\s]*:(?<line>\d+)/u.exec(error.stack ?? '') : undefined;
  const where = line?.groups?.['line'] === undefined ? '' : ` (line ${line.groups['line']} of the module)`;
  return `${words.slice(0, WORDS_MAX)}${where}`;
}

/** An intent ended: what it traded counts, what it did not is free again. */
function settled(was: State, { outcome }: Wake & { on: 'outcome' }, plan: ModulePlan): State {
  const { [outcome.leg]: ended, ...open } = was.open;
  const filled = totalOf(plan).by === 'quantity' ? outcome.filled : holding(outcome.filledAmount);
  const kept = Object.entries({ ...was.ended, ...(ended && { [outcome.leg]: ended }) });
  return {
    ...was,
    open,
    traded: text(add(quantity(was.traded), filled)),
    ended: Object.fromEntries(kept.slice(-ENDED_KEPT)),
  };
}

function ownWake(was: State, wake: Wake): OwnWake {
  switch (wake.on) {
    case 'at':
      return { on: 'at', at: wake.at, due: wake.due };
    case 'price':
      return { on: 'price', at: wake.at, price: apart(wake.price) };
    case 'inflow':
      return { on: 'inflow', at: wake.at, balance: apart(wake.balance) };
    case 'drift':
      return { on: 'drift', at: wake.at, drift: wake.drift.toFixed() };
    case 'outcome': {
      const { leg, result, reason, filled, filledAmount } = wake.outcome;
      const intent = was.open[leg] ?? was.ended[leg];
      const { tag, pair, side } = intent ?? { tag: leg, pair: '', side: 'buy' };
      return {
        on: 'outcome',
        at: wake.at,
        outcome: {
          tag,
          pair,
          side,
          result,
          reason,
          filled: apart(filled),
          filledAmount: apart(filledAmount),
        },
      };
    }
    case 'start':
      throw new BrokenRule('a life begins once');
    case 'debt':
    case 'lifted':
      throw new BrokenRule(`a module cannot wait for ${wake.on}`);
  }
}

/** Copies: whatever a kernel does to them, nobody else sees. */
function ownView(plan: ModulePlan, now: State, { begunAt, view }: Context): OwnView {
  const declared = (pair: string): string => {
    if (!plan.pairs.includes(pair)) throw new BrokenRule(`${pair} is not among the pairs of the document`);
    return pair;
  };
  return Object.freeze({
    at: view.at,
    begunAt,
    pair: (pair: string) => structuredPair(view, declared(pair)),
    price(pair: string) {
      const mid = view.reference(declared(pair))?.mid;
      return mid && apart(mid);
    },
    balance(currency: string) {
      if (view.holdings === undefined) return undefined;
      return apart(view.holdings.get(currency) ?? NO_QUANTITY);
    },
    left: apart(leftOf(plan, now)),
    open: Object.keys(now.open).length,
  });
}

function structuredPair(view: View, pair: string): ReturnType<OwnView['pair']> {
  const { base, quote, basePrecision, quotePrecision, minimum } = view.instrument(pair);
  const { quantity: smallest, notional, lot } = minimum;
  const own = {
    ...(smallest && { quantity: apart(smallest) }),
    ...(notional && { notional: apart(notional) }),
    ...(lot && { lot: apart(lot) }),
  };
  return Object.freeze({ pair, base, quote, basePrecision, quotePrecision, minimum: own });
}

/** What a step left, checked, and what follows from it. */
function lived(plan: ModulePlan, now: State, view: View, returned: unknown): Step<State> {
  const step = readStep(returned);
  const { intents, open, next, recent } = asked({ plan, now, view, step, left: leftOf(plan, now) });
  const then: State = {
    ...now,
    own: step.state,
    next,
    recent,
    open: { ...now.open, ...open },
    isEnding: step.finished ?? false,
  };
  const { note } = step;
  const told = note === undefined ? {} : { note };
  if (then.isEnding) return { ...ending(then), intents, ...told };
  const waits = [...waitsOf(plan, step, view.at), ...outcomesOf(then)];
  if (waits.length === 0)
    throw new BrokenRule(
      'it waits for nothing and has nothing open: give waits or intents, or finished: true',
    );
  return {
    state: then,
    waits,
    intents,
    ...(intents.length === 0 ? { reason: 'waiting' as const } : {}),
    ...told,
  };
}

const outcomesOf = ({ open }: State): Step<State>['waits'] =>
  Object.keys(open).map((leg) => ({ on: 'outcome', leg, slice: 0 }));

/** It wants nothing more: it ends with the last of its open intents. */
const ending = (now: State): Step<State> =>
  Object.keys(now.open).length === 0
    ? { state: now, waits: [], finished: 'finished' }
    : { state: now, waits: outcomesOf(now), reason: 'waiting' };
