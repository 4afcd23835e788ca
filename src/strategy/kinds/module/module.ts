import { z } from 'zod';
import { barMs } from '../../../core/bar.ts';
import type { Bar, BarWish } from '../../../core/bar.ts';
import { add, quantity, text } from '../../../core/money.ts';
import type { Wake } from '../../../core/wake.ts';
import { atMostOnce, checkDecimals, TOTAL } from '../../checks.ts';
import { defineStrategy } from '../../kernel.ts';
import type { AnyStrategy, CheckWorld, Context, Problem, Step, View } from '../../kernel.ts';
import { tradedOf } from '../../worker/total.ts';
import type { BarData, ModuleCode, PairData, ViewData, WakeData } from './module-call.ts';
import { BrokenRule, declaredOf, FIRST, leftOf, params, state } from './module-plan.ts';
import type { ModulePlan, ModuleState as State } from './module-plan.ts';
import { readBarWishes } from './module-bars.ts';
import { asked, readStep, waitsOf } from './module-step.ts';

/** Number of ended intents to keep, so that a late trade can be reported with its tag. */
const ENDED_KEPT = 20;

/**
 * The user's own kernel. Its steps receive and return data, and each result is checked against the document before it takes effect.
 * A step that throws, returns invalid data or breaks a rule changes nothing, and pauses its strategy.
 */
const moduleOf = (code: ModuleCode): AnyStrategy => ({
  ...defineStrategy<ModulePlan, State>({
    kind: 'module',
    summary: 'a kernel of your own, in a .ts or .js file beside this one',
    params,
    state,
    of: (plan) => ({
      pairs: plan.pairs,
      runsCode: true,
      bars: () => barsWished(code, plan),
      check: (world) => [...checkPlan(plan, world), ...checkOwn(code, plan)],
      start: (begunAt, view) =>
        guarded(FIRST, () => {
          const seen = viewData(plan, FIRST, { begunAt, view }, wishesOf(code, plan));
          return lived(plan, FIRST, view, code({ do: 'start', params: plan.params, view: seen }));
        }),
      step: (was, wake, context) =>
        guarded(was, () => {
          const now = wake.on === 'outcome' ? settled(was, wake, plan) : was;
          if (now.isEnding) return ending(now);
          const call = {
            do: 'step',
            params: plan.params,
            state: now.own,
            wake: wakeData(was, wake),
          } as const;
          return lived(
            plan,
            now,
            context.view,
            code({ ...call, view: viewData(plan, now, context, wishesOf(code, plan)) }),
          );
        }),
    }),
  }),
  withCode: moduleOf,
});

/** The kind in the registry. Without code, it can be described but not run. */
export const module = moduleOf(() => {
  throw new BrokenRule('the code of the module was not loaded');
});

function checkPlan(plan: ModulePlan, world: CheckWorld): readonly Problem[] {
  const { total_quantity: inBase, total_notional: inQuote, pairs } = plan;
  if ((inBase === undefined) === (inQuote === undefined)) {
    const message =
      'give either total_quantity or total_notional: the largest total that the module may trade';
    return [{ path: [inBase === undefined ? 'module' : 'total_notional'], message }];
  }
  const twice = atMostOnce(pairs, 'pairs');
  if (twice.length > 0) return twice;
  return pairs.flatMap((pair): readonly Problem[] => {
    const currencies = world.currencies(pair);
    if (currencies === undefined) return [];
    const [unit, meant] =
      inBase === undefined ? [inQuote?.currency, currencies.quote] : [inBase.currency, currencies.base];
    const field = inBase === undefined ? 'total_notional' : 'total_quantity';
    return unit === meant
      ? checkDecimals({ ...plan, pair }, TOTAL, { world })
      : [
          {
            path: [field, 'currency'],
            message: `the total of ${pair} must be in ${meant}, not ${unit ?? ''}`,
          },
        ];
  });
}

/** Returns the module's own messages about its `params`. */
function checkOwn(code: ModuleCode, plan: ModulePlan): readonly Problem[] {
  const { params: given } = plan;
  try {
    const found = problems.parse(code({ do: 'check', params: given }));
    // Only valid params can be used to request its bars.
    if (found.length === 0) wishesOf(code, plan);
    return found.map(({ path, message }) => ({ path: ['params', ...path], message }));
  } catch (error) {
    return [{ path: ['params'], message: wordsOf(error) }];
  }
}

const problems = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }));

/** Turns an error of the kernel into a fault of its own strategy. */
function guarded(was: State, run: () => Step<State>): Step<State> {
  try {
    return run();
  } catch (error) {
    return { state: was, waits: [], fault: wordsOf(error) };
  }
}

const WORDS_MAX = 300;

/** Returns the message of an error, with file and line of the module. */
export function wordsOf(error: unknown): string {
  const said = error instanceof Error ? `${error.name}: ${error.message}` : `it threw ${typeof error}`;
  const words = (error instanceof BrokenRule ? error.message : said).split('\n')[0] ?? '';
  return `${words.slice(0, WORDS_MAX)}${error instanceof Error ? placeIn(error) : ''}`;
}

/** Returns ` (FILE:LINE)` if the stack contains a module, otherwise an empty text. */
export function placeIn({ stack = '' }: Error): string {
  const place = /tranche-module\/[0-9a-f]+\/(?<at>[^:\s]+:\d+)/u.exec(stack)?.groups?.['at'];
  return place === undefined ? '' : ` (${place})`;
}

/** Books the outcome of an intent. Its trade counts, and its remainder is free again. */
function settled(was: State, { outcome }: Wake & { on: 'outcome' }, plan: ModulePlan): State {
  const { [outcome.leg]: ended, ...open } = was.open;
  const filled = tradedOf(declaredOf(plan).by, outcome);
  const kept = Object.entries({ ...was.ended, ...(ended && { [outcome.leg]: ended }) });
  return {
    ...was,
    open,
    traded: text(add(quantity(was.traded), filled)),
    ended: Object.fromEntries(kept.slice(-ENDED_KEPT)),
  };
}

function wakeData(was: State, wake: Wake): WakeData {
  switch (wake.on) {
    case 'at':
      return { on: 'at', at: wake.at, due: wake.due };
    case 'price':
      return { on: 'price', at: wake.at, price: text(wake.price) };
    case 'inflow':
      return { on: 'inflow', at: wake.at, balance: text(wake.balance) };
    case 'drift':
      return { on: 'drift', at: wake.at, drift: wake.drift.toFixed() };
    case 'outcome': {
      const { leg, result, reason, filled, filledAmount } = wake.outcome;
      const intent = was.open[leg] ?? was.ended[leg];
      const { tag, pair, side } = intent ?? { tag: leg, pair: '', side: 'buy' };
      const traded = { filled: text(filled), filledAmount: text(filledAmount) };
      return { on: 'outcome', at: wake.at, outcome: { tag, pair, side, result, reason, ...traded } };
    }
    case 'start':
      throw new BrokenRule('a life starts only once');
    case 'debt':
    case 'lifted':
    case 'run':
      throw new BrokenRule(`a module cannot wait for ${wake.on}`);
  }
}

/** Declared bars by document, which do not change. */
const wishes = new WeakMap<ModulePlan, readonly BarWish[]>();

function wishesOf(code: ModuleCode, plan: ModulePlan): readonly BarWish[] {
  const known = wishes.get(plan);
  if (known !== undefined) return known;
  const read = readBarWishes(plan, code({ do: 'bars', params: plan.params }));
  wishes.set(plan, read);
  return read;
}

/** Returns no bars if the kernel fails: `check` rejects such a document, and its steps fail with a message. */
function barsWished(code: ModuleCode, plan: ModulePlan): readonly BarWish[] {
  try {
    return wishesOf(code, plan);
  } catch {
    return [];
  }
}

function viewData(
  plan: ModulePlan,
  now: State,
  { begunAt, view }: Context,
  wished: readonly BarWish[],
): ViewData {
  const { holdings } = view;
  const bars = wished.map(({ pair, interval, count }): readonly [string, readonly BarData[]] => [
    `${pair} ${interval}`,
    view.bars(pair, barMs(interval), count).map(barData),
  ]);
  return {
    at: view.at,
    begunAt,
    pairs: Object.fromEntries(plan.pairs.map((pair) => [pair, pairData(view, pair)])),
    bars: Object.fromEntries(bars),
    balances: holdings && Object.fromEntries([...holdings].map(([currency, held]) => [currency, text(held)])),
    left: text(leftOf(plan, now)),
    open: Object.keys(now.open).length,
  };
}

const barData = ({ from, open, high, low, close }: Bar): BarData => ({
  from,
  open: text(open),
  high: text(high),
  low: text(low),
  close: text(close),
});

function pairData(view: View, pair: string): PairData {
  const { base, quote, basePrecision, quotePrecision, minimum } = view.instrument(pair);
  const { quantity: smallest, notional, lot } = minimum;
  const mid = view.reference(pair)?.mid;
  return {
    base,
    quote,
    basePrecision,
    quotePrecision,
    minimum: {
      ...(smallest && { quantity: text(smallest) }),
      ...(notional && { notional: text(notional) }),
      ...(lot && { lot: text(lot) }),
    },
    price: mid && text(mid),
  };
}

/** Checks the result of a step, and derives the next state and waits. */
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
  const report = note === undefined ? {} : { note };
  if (then.isEnding) return { ...ending(then), intents, ...report };
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
    ...report,
  };
}

const outcomesOf = ({ open }: State): Step<State>['waits'] =>
  Object.keys(open).map((leg) => ({ on: 'outcome', leg, slice: 0 }));

/** Ends with the last open intent, because the kernel wants nothing more. */
const ending = (now: State): Step<State> =>
  Object.keys(now.open).length === 0
    ? { state: now, waits: [], finished: 'finished' }
    : { state: now, waits: outcomesOf(now), reason: 'waiting' };
