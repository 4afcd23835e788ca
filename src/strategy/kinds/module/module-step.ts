import { z } from 'zod';
import {
  add,
  apart,
  isAmount,
  isAmountText,
  NO_QUANTITY,
  price,
  quantity,
  roundDown,
  text,
} from '../../../core/money.ts';
import type { Quantity } from '../../../core/money.ts';
import { after, DAY_MS, instant, MINUTE_MS, parseDuration, SECOND_MS } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import type { Intent, Wait } from '../../../core/wake.ts';
import type { View } from '../../kernel.ts';
import { sizeOf } from '../../worker/total.ts';
import { BrokenRule, declaredOf } from './module-plan.ts';
import type { ModulePlan, ModuleState } from './module-plan.ts';

/** Largest state of a kernel as JSON, in characters. */
const STATE_MAX = 32 * 1024;
const DEPTH_MAX = 32;
const WITHIN_MAX_MS = DAY_MS;
/** Shortest wait. Earlier instants are moved to it, so that no step follows another within a tick. */
const SOONEST_MS = SECOND_MS;

/** An amount from a kernel: text, or a result of the amount helpers. A number may already have lost digits. */
const amount = z
  .custom<unknown>(
    (value) => {
      const words = amountText(value);
      return (
        words !== undefined && isAmountText(words) && !/[e-]/iu.test(words) && !/^0*(?:\.0*)?$/u.test(words)
      );
    },
    { error: 'expected an amount above zero: quantity("0.1"), or a text such as "0.1"' },
  )
  .transform((value) => amountText(value) ?? '');

function amountText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  // A copy, because `text` caches the object that it receives, which must not be the module's own.
  return isAmount(value) ? text(apart(value)) : undefined;
}

const instantMs = z.int({ error: 'expected an instant in Unix ms, such as later(view.at, "PT10M")' }).min(0);

const wait = z.lazy(() =>
  z.discriminatedUnion('on', [
    z.strictObject({ on: z.literal('at'), at: instantMs }),
    z.strictObject({
      on: z.literal('price'),
      pair: z.string(),
      is: z.enum(['at_or_below', 'at_or_above']),
      level: amount,
      notBefore: instantMs.optional(),
    }),
    z.strictObject({
      on: z.literal('inflow'),
      currency: z.string(),
      above: amount,
      notBefore: instantMs.optional(),
    }),
    z.strictObject({
      on: z.literal('drift'),
      targets: z.record(z.string(), z.string().refine(isAmountText)),
      cash: z.string(),
      driftType: z.enum(['absolute', 'relative']),
      threshold: z.string().refine(isAmountText),
      notBefore: instantMs,
    }),
  ]),
);

const intent = z.lazy(() =>
  z.strictObject({
    pair: z.string(),
    side: z.enum(['buy', 'sell']),
    quantity: amount.optional(),
    notional: amount.optional(),
    limit: amount.optional(),
    within: z.string().optional(),
    tag: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/u, { error: 'expected 1 to 40 of a-z, 0-9 and -' })
      .optional(),
  }),
);

const step = z.lazy(() =>
  z.strictObject({
    state: z.unknown(),
    waits: z.array(wait).max(20).optional(),
    intents: z.array(intent).max(20).optional(),
    note: z.string().max(300).optional(),
    finished: z.boolean().optional(),
  }),
);
type OwnStep = z.output<typeof step>;
type OwnIntent = z.output<typeof intent>;

/** Reads a kernel's result as plain data, with amounts as text. @throws BrokenRule with a message for its author. */
export function readStep(returned: unknown): OwnStep {
  if (typeof returned === 'object' && returned !== null && 'then' in returned)
    throw new BrokenRule(
      'it returned a promise: a kernel must be synchronous and declare in waits what it waits for',
    );
  const parsed = step.safeParse(returned);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = ['the step', ...(issue?.path ?? [])].map(String).join('.');
    throw new BrokenRule(`${path}: ${issue?.message ?? 'unreadable'}`);
  }
  return { ...parsed.data, state: plainCopy(parsed.data.state) };
}

/**
 * Returns a copy made through JSON, and rejects values that JSON would change, so that the journal restores exactly the
 * kernel's state.
 */
function plainCopy(own: unknown): unknown {
  const odd = oddIn(own, 'state', 0);
  if (odd !== undefined) throw new BrokenRule(odd);
  const words = JSON.stringify(own);
  if (words.length > STATE_MAX)
    throw new BrokenRule(`the state has ${words.length} characters as JSON; at most ${STATE_MAX} are kept`);
  const copy: unknown = JSON.parse(words);
  return copy;
}

/** Returns the first part of a state that JSON would not restore, as text; `undefined` when there is none. */
function oddIn(value: unknown, path: string, depth: number): string | undefined {
  if (depth > DEPTH_MAX) return `${path} lies deeper than ${DEPTH_MAX}`;
  if (typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0)
      ? undefined
      : `${path} is ${value}, which JSON cannot hold`;
  if (Array.isArray(value)) return first(value, (one, i) => oddIn(one, `${path}[${i}]`, depth + 1));
  if (typeof value !== 'object' || value === null)
    return `${path} is ${value === null ? 'null' : typeof value}: a state is plain JSON; omit missing fields`;
  if (isAmount(value)) return `${path} is an amount: keep it as text(…)`;
  if (Object.getPrototypeOf(value) !== Object.prototype)
    return `${path} is an object of a class: a state is plain JSON`;
  return first(Object.entries(value), ([key, one]) => oddIn(one, `${path}.${key}`, depth + 1));
}

function first<T>(list: readonly T[], of: (one: T, i: number) => string | undefined): string | undefined {
  for (const [i, one] of list.entries()) {
    const found = of(one, i);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the waits that the kernel declared. */
export function waitsOf(plan: ModulePlan, { waits = [] }: OwnStep, at: Instant): readonly Wait[] {
  const soonest = after(at, SOONEST_MS);
  const notBefore = (ms: number): Instant => instant(Math.max(ms, soonest));
  return waits.map((each): Wait => {
    switch (each.on) {
      case 'at':
        return { on: 'at', at: notBefore(each.at) };
      case 'price':
        if (!plan.pairs.includes(each.pair))
          throw new BrokenRule(`it waits for a price of ${each.pair}, which is not among its pairs`);
        return { ...each, notBefore: notBefore(each.notBefore ?? at) };
      case 'inflow':
        return { ...each, notBefore: notBefore(each.notBefore ?? at) };
      case 'drift':
    }
    for (const currency of Object.keys(each.targets)) {
      const pair = currency + each.cash;
      if (currency !== each.cash && !plan.pairs.includes(pair))
        throw new BrokenRule(`it waits for a drift of ${currency}, and ${pair} is not among its pairs`);
    }
    return { ...each, notBefore: notBefore(each.notBefore) };
  });
}

interface Asking {
  readonly plan: ModulePlan;
  readonly now: ModuleState;
  readonly view: View;
  readonly step: OwnStep;
  /** Part of the total that is neither traded nor in open intents. */
  readonly left: Quantity;
}

type Asked = Pick<ModuleState, 'open' | 'next' | 'recent'> & { readonly intents: readonly Intent[] };

/** Returns the intents of a step, each a parent of its own. @throws BrokenRule for an intent beyond what the document declares. */
export function asked({ plan, now, view, step: { intents = [] }, left }: Asking): Asked {
  const recent = now.recent.filter((ms) => ms > view.at - MINUTE_MS);
  const most = plan.max_intents_per_minute;
  if (recent.length + intents.length > most)
    throw new BrokenRule(
      `${recent.length + intents.length} intents within a minute; max_intents_per_minute is ${most}`,
    );
  const open: ModuleState['open'] = {};
  let sum = NO_QUANTITY;
  const made = intents.map((own, i): Intent => {
    const size = amountIn(plan, view, own);
    sum = add(sum, size);
    const leg = String(now.next + i);
    open[leg] = { tag: own.tag ?? leg, pair: own.pair, side: own.side, size: text(size) };
    return intentOf(own, { leg, size, plan, at: view.at });
  });
  if (sum.gt(left)) {
    const { amount: total } = declaredOf(plan);
    throw new BrokenRule(`it wants ${text(sum)}, and ${text(left)} of its total of ${text(total)} is left`);
  }
  return {
    intents: made,
    open,
    next: now.next + made.length,
    recent: [...recent, ...made.map(() => Number(view.at))],
  };
}

/** Returns the size of an intent in the unit of the total, rounded down to the precision of its currency. */
function amountIn(plan: ModulePlan, view: View, { pair, side, ...own }: OwnIntent): Quantity {
  if (!plan.pairs.includes(pair))
    throw new BrokenRule(`it wants to trade ${pair}, and its pairs are ${plan.pairs.join(', ')}`);
  if (plan.side !== 'both' && plan.side !== side)
    throw new BrokenRule(`it wants to ${side}, and its side is ${plan.side}`);
  const { by } = declaredOf(plan);
  const [given, other] = by === 'quantity' ? [own.quantity, own.notional] : [own.notional, own.quantity];
  const [unit, total] = by === 'quantity' ? ['quantity', 'total_quantity'] : ['notional', 'total_notional'];
  if (given === undefined || other !== undefined)
    throw new BrokenRule(`an intent gives its ${unit}, and nothing else, because ${total} is declared`);
  const { basePrecision, quotePrecision } = view.instrument(pair);
  const size = roundDown(quantity(given), by === 'quantity' ? basePrecision : quotePrecision);
  if (size.isZero()) throw new BrokenRule(`a ${unit} of ${given} is nothing in the precision of ${pair}`);
  return size;
}

interface Facts {
  readonly leg: string;
  readonly size: Quantity;
  readonly plan: ModulePlan;
  readonly at: Instant;
}

function intentOf(own: OwnIntent, { leg, size, plan, at }: Facts): Intent {
  const ms = parseDuration(own.within ?? 'PT1M');
  if (!(ms >= SECOND_MS && ms <= WITHIN_MAX_MS))
    throw new BrokenRule(`within is ${own.within ?? ''}: expected a second to a day`);
  return {
    leg,
    slice: 0,
    pair: own.pair,
    side: own.side,
    size: sizeOf(declaredOf(plan).by, size),
    ...(own.limit === undefined ? {} : { limit: price(own.limit) }),
    deadline: after(at, ms),
  };
}
