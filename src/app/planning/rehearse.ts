import {
  add,
  cost,
  holding,
  NO_MONEY,
  NO_QUANTITY,
  price,
  quantity,
  ratio,
  subtract,
  worsen,
} from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import type { Instrument } from '../../core/instrument.ts';
import { orderMax } from '../../core/risk/order-max.ts';
import { priceIn, valueOn } from '../../core/risk/portfolio.ts';
import type { Instant } from '../../core/time.ts';
import { instant } from '../../core/time.ts';
import type { Intent, SliceOutcome, Wake } from '../../core/wake.ts';
import { inLimits } from '../../planning/plan.ts';
import type { Estimate, PlanFacts, PlannedSlice } from '../../planning/plan.ts';
import type { BoundStrategy, Step, View } from '../../strategy/kernel.ts';

/** Maximum number of steps in one rehearsal. A trade of 50 slices takes 100 steps. */
const STEPS_MAX = 2_000;

interface Rehearsed {
  readonly id: string;
  readonly bound: BoundStrategy;
  /** Time at which it decides. */
  readonly at: Instant;
  /** Whether it decides at the times of a schedule. */
  readonly isScheduled: boolean;
}

/**
 * Simulates what a strategy would trade if its kernel decided at `at` based on the current account and prices. Each
 * slice fills completely at the current price; later market changes are ignored.
 */
export function rehearse({ id, bound, at, isScheduled }: Rehearsed, facts: PlanFacts): Estimate {
  const { funds } = facts;
  if ('missing' in funds) return { missing: funds.missing };
  const held = new Map(funds.balances);
  const viewAt = (now: Instant): View => new PlannedView(facts, held, now);
  const slices: PlannedSlice[] = [];
  let now = at;
  let step: Step<unknown> = bound.start(at, viewAt(at));
  let wake: Wake | undefined = isScheduled
    ? { on: 'at', at, due: at }
    : { on: 'drift', at, drift: ratio('1') };
  const open: Intent[] = [];
  let why: string | undefined;
  for (let steps = 0; wake !== undefined && steps < STEPS_MAX; steps++) {
    step = bound.step(step.state, wake, { begunAt: at, view: viewAt(now) });
    if (steps === 0 && (step.intents ?? []).length === 0)
      why = [step.reason, step.note].filter(Boolean).join(': ');
    for (const intent of step.intents ?? []) slices.push(sliceOf(id, intent, now));
    open.push(...(step.intents ?? []));
    const next = open.shift();
    if (next !== undefined) wake = { on: 'outcome', at: now, outcome: filled(next, held, facts) };
    else {
      const due = step.waits.flatMap((wait) => (wait.on === 'at' ? [wait.at] : []));
      now = instant(Math.max(now, Math.min(...due)));
      // A life that another document may replace has nothing in progress.
      wake =
        due.length === 0 || bound.isReplaceable(step.state) ? undefined : { on: 'at', at: now, due: now };
    }
  }
  return { slices, ...(why === undefined ? {} : { why }) };
}

const sliceOf = (
  strategy: string,
  { leg, slice, deadline: until, pair, side, size, limit, tactics }: Intent,
  at: Instant,
): PlannedSlice => ({
  strategy,
  leg,
  slice,
  at,
  until,
  pair,
  side,
  size,
  limit,
  isSplit: tactics?.split,
  isEstimate: true,
});

/** Books a fill of the whole slice at the current price. */
function filled(intent: Intent, held: Map<string, Quantity>, facts: PlanFacts): SliceOutcome {
  const { leg, slice, pair, side, size } = intent;
  const names = facts.currencies(pair);
  const mid = facts.price(pair)?.mid ?? price('1');
  const base = size.by === 'quantity' ? size.quantity : quantity(size.amount.div(mid).toFixed(8));
  const amount = cost(mid, base);
  const book = (currency: string, change: Quantity, isIn: boolean): void => {
    const before = held.get(currency) ?? NO_QUANTITY;
    held.set(currency, isIn ? add(before, change) : subtract(before, change));
  };
  if (names !== undefined) {
    book(names.base, base, side === 'buy');
    book(names.quote, holding(amount), side === 'sell');
  }
  return { leg, slice, result: 'filled', filled: base, filledAmount: amount };
}

/** Decimals of a currency whose precision is unknown. */
const DECIMALS = 8;

/** The kernel's view of the current account and prices. */
class PlannedView implements View {
  readonly at: Instant;
  readonly holdings: ReadonlyMap<string, Quantity>;
  readonly #facts: PlanFacts;
  readonly debts: View['debts'] = new Map();

  constructor(facts: PlanFacts, held: ReadonlyMap<string, Quantity>, at: Instant) {
    this.at = at;
    this.holdings = new Map(held);
    this.#facts = facts;
  }

  instrument(pair: string): Instrument {
    const { base = pair, quote = 'usd' } = this.#facts.currencies(pair) ?? {};
    const { basePrecision = DECIMALS, quotePrecision = DECIMALS } = this.#facts.precisions(pair);
    return { pair, base, quote, basePrecision, quotePrecision, minimum: this.#facts.minimum(pair) };
  }

  reference(pair: string): ReturnType<View['reference']> {
    const mid = this.#midOf(pair);
    return mid && { pair, mid, at: this.at, source: 'probe' };
  }

  /** The account's value as computed here, because there is no second valuation to compare it with. */
  get valuation(): Money {
    return this.accountValue({ cash: 'usd' }).value;
  }

  bars(): readonly never[] {
    return [];
  }

  volume(): undefined {
    return undefined;
  }

  isDelisted(): boolean {
    return false;
  }

  rateOf(): undefined {
    return undefined;
  }

  modeOf(): undefined {
    return undefined;
  }

  excessDebts(): undefined {
    return undefined;
  }

  orderMax(pair: string, side: PlannedSlice['side']): Quantity | undefined {
    const mid = this.#midOf(pair);
    const { limits } = this.#facts;
    if (mid === undefined) return undefined;
    const instrument = this.instrument(pair);
    const dearest = side === 'buy' ? worsen(side, mid, limits.collarBps) : mid;
    const each = inLimits(instrument.quote, cost(dearest, quantity('1')), this.#facts);
    return orderMax(limits, instrument, each);
  }

  value(...[targets, basis]: Parameters<View['value']>): ReturnType<View['value']> {
    return valueOn(targets, basis, { holdings: this.holdings, midOf: (pair) => this.#midOf(pair) });
  }

  accountValue(basis: Parameters<View['accountValue']>[0]): ReturnType<View['accountValue']> {
    let value = NO_MONEY;
    const unpriced: string[] = [];
    for (const [currency, amount] of this.holdings) {
      const each =
        currency === basis.cash ? price('1') : priceIn(currency, basis, (pair) => this.#midOf(pair));
      if (each !== undefined) value = add(value, cost(each, amount));
      else if (!amount.isZero()) unpriced.push(currency);
    }
    return { value, unpriced };
  }

  #midOf(pair: string): Price | undefined {
    return this.#facts.price(pair)?.mid;
  }
}
