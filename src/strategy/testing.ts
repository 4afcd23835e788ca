/**
 * `tranche/strategy/testing`: runs a kernel without an engine, a venue or a clock. It checks each step by the same
 * rules as the desk and passes the kernel the same copies, so that a kernel behaves here as it does on a desk.
 */
import { barMs, lastEnd } from '../core/bar.ts';
import type { Bar } from '../core/bar.ts';
import type { Instrument } from '../core/instrument.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  add,
  cost,
  holding,
  price,
  quantity,
  roundDown,
  subtract,
  text,
} from '../core/money.ts';
import type { Price, Quantity } from '../core/money.ts';
import { sidesOf } from '../core/pairs.ts';
import { isBeyond } from '../core/reference-price.ts';
import type { Reason } from '../core/reasons.ts';
import { driftOf, hasDrifted } from '../core/risk/portfolio.ts';
import { after, instant, parseDuration, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Intent as SizedIntent, Wait, Wake } from '../core/wake.ts';
import type { BoundStrategy, Step, View } from './kernel.ts';
import { codeIn } from './kinds/module/module-code.ts';
import { module } from './kinds/module/module.ts';
import type { Kernel, Side } from './sdk.ts';

/** The YAML document without `id`, `kind` and `module`. */
export interface TestDocument {
  readonly pairs: readonly string[];
  readonly side?: 'buy' | 'sell' | 'both';
  readonly total_quantity?: { readonly amount: string; readonly currency: string };
  readonly total_notional?: { readonly amount: string; readonly currency: string };
  readonly max_intents_per_minute?: number;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface TestWorld {
  /** Current time, with its zone. Default: 2026-01-05T00:00:00Z. */
  readonly at?: string;
  /** By currency. Default: none. */
  readonly balances?: Readonly<Record<string, string>>;
  /** By pair, quote per base. */
  readonly prices?: Readonly<Record<string, string>>;
  /** Decimals of amounts. Default: 8 in base and 2 in quote currency. */
  readonly basePrecision?: number;
  readonly quotePrecision?: number;
}

/** An intent as the desk would size it, before its limits. */
export interface TestIntent {
  /** Identifies the intent in `fill` and `skip`. */
  readonly number: number;
  readonly pair: string;
  readonly side: Side;
  /** In base currency if the document declares `total_quantity`; otherwise, `notional` states the size. */
  readonly quantity?: string;
  readonly notional?: string;
  readonly limit?: string;
  /** Unix ms. */
  readonly until: number;
  /** Whether the intent has not ended. */
  readonly isOpen: boolean;
}

/** A bar, quote per base. */
export type TestBar = Readonly<Record<'open' | 'high' | 'low' | 'close', string>>;

/** One step of the kernel. */
export interface TestStep {
  readonly at: Instant;
  readonly on: Wake['on'];
  readonly note: string | undefined;
}

/** A kernel under test. An event wakes the kernel if, and only if, the kernel waits for it. */
export interface KernelTest {
  readonly at: Instant;
  /** State after the last step of the kernel. */
  readonly state: unknown;
  readonly waits: readonly Wait[];
  /** Every intent so far, oldest first. */
  readonly intents: readonly TestIntent[];
  /** Every step so far, oldest first. */
  readonly steps: readonly TestStep[];
  readonly isFinished: boolean;
  /**
   * Why a desk would pause the strategy, because the kernel threw an error or broke a rule of its document. The kernel
   * then takes no further step.
   */
  readonly fault: string | undefined;
  /** Advances time by an ISO 8601 duration and wakes the kernel whenever a wait is met on the way. Prices stay. */
  advance(duration: string): void;
  /** Sets the price of a pair; `undefined` removes it. */
  price(pair: string, mid: string | undefined): void;
  /** Sets the balance of a currency. */
  balance(currency: string, amount: string): void;
  /** Advances time to the end of the current interval and adds its bar. The close becomes the price. */
  bar(pair: string, interval: string, bar: TestBar): void;
  /**
   * Fills an open intent, in whole or in part, at the given price, otherwise at the market price, otherwise at its
   * limit. Updates the balances.
   */
  fill(number: number, of?: { readonly price?: string; readonly quantity?: string }): void;
  /** Ends an open intent without a trade. */
  skip(number: number, reason?: Reason): void;
}

/** Starts a kernel with a document. @throws Error with the reason if a desk would reject the document or its `params`. */
export function testKernel<Params, State>(
  kernel: Kernel<Params, State>,
  document: TestDocument,
  world: TestWorld = {},
): KernelTest {
  return new Bench(boundOf(kernel, document), document.pairs, world);
}

function boundOf<Params, State>(kernel: Kernel<Params, State>, document: TestDocument): BoundStrategy {
  const code = codeIn({ kernel });
  if ('problem' in code) throw new Error(code.problem);
  const kind = module.withCode?.(code) ?? module;
  const bound = kind.bind({ module: './kernel.ts', ...document });
  const [problem] = bound.check({
    minimum: () => ({}),
    currencies: (pair) => currenciesOf(pair),
    precisions: () => ({ basePrecision: undefined, quotePrecision: undefined }),
  });
  if (problem !== undefined) throw new Error(`${problem.path.join('.')}: ${problem.message}`);
  return bound;
}

function currenciesOf(pair: string): { readonly base: string; readonly quote: string } {
  const { base, quote } = sidesOf(pair, []);
  return { base: base ?? pair.slice(0, 3), quote: quote ?? pair.slice(3) };
}

type Open = TestIntent & { readonly leg: string; readonly sized: SizedIntent };

class Bench implements KernelTest {
  at: Instant;
  steps: TestStep[] = [];
  isFinished = false;
  fault: string | undefined;
  readonly #bound: BoundStrategy;
  readonly #begunAt: Instant;
  readonly #world: TestWorld;
  readonly #prices = new Map<string, Price>();
  readonly #balances = new Map<string, Quantity>();
  readonly #bars = new Map<string, Bar[]>();
  #intents: Open[] = [];
  #now: Pick<Step<unknown>, 'state' | 'waits'> = { state: undefined, waits: [] };

  constructor(bound: BoundStrategy, pairs: readonly string[], world: TestWorld) {
    this.at = parseTime(world.at ?? '2026-01-05T00:00:00Z');
    this.#begunAt = this.at;
    this.#bound = bound;
    this.#world = world;
    for (const [pair, mid] of Object.entries(world.prices ?? {}))
      this.#prices.set(declared(pair, pairs), price(mid));
    for (const [currency, held] of Object.entries(world.balances ?? {}))
      this.#balances.set(currency, quantity(held));
    this.#take('start', bound.start(this.at, this.#view()));
  }

  get state(): unknown {
    const { state } = this.#now;
    return typeof state === 'object' && state !== null && 'own' in state ? state.own : undefined;
  }

  get waits(): readonly Wait[] {
    return this.#now.waits;
  }

  get intents(): readonly TestIntent[] {
    return this.#intents.map(({ leg: _leg, sized: _sized, ...intent }) => intent);
  }

  advance(duration: string): void {
    this.#passTo(after(this.at, parseDuration(duration)));
  }

  price(pair: string, mid: string | undefined): void {
    if (mid === undefined) this.#prices.delete(pair);
    else this.#prices.set(pair, price(mid));
    this.#look();
  }

  balance(currency: string, amount: string): void {
    this.#balances.set(currency, quantity(amount));
    this.#look();
  }

  bar(pair: string, interval: string, bar: TestBar): void {
    const ms = barMs(interval);
    const from = lastEnd(this.at, ms);
    const key = `${pair} ${ms}`;
    const [open, high, low, close] = [price(bar.open), price(bar.high), price(bar.low), price(bar.close)];
    const end = instant(from + ms);
    this.#passTo(instant(end - 1));
    this.#bars.set(key, [...(this.#bars.get(key) ?? []), { from, open, high, low, close }]);
    this.#prices.set(pair, close);
    this.#passTo(end);
    this.#look();
  }

  fill(number: number, of: { readonly price?: string; readonly quantity?: string } = {}): void {
    const open = this.#open(number);
    const { pair, side, size, limit } = open.sized;
    const mid = of.price === undefined ? (this.#prices.get(pair) ?? limit) : price(of.price);
    if (mid === undefined) throw new Error(`there is no price of ${pair}: give one`);
    const { base, quote, basePrecision } = this.#instrument(pair);
    const whole =
      size.by === 'quantity'
        ? size.quantity
        : roundDown(quantity(size.amount.div(mid).toFixed(18)), basePrecision);
    const filled = of.quantity === undefined ? whole : quantity(of.quantity);
    const filledAmount = size.by === 'amount' && of.quantity === undefined ? size.amount : cost(mid, filled);
    const [gets, gives] = side === 'buy' ? [base, quote] : [quote, base];
    const [got, gave] = side === 'buy' ? [filled, holding(filledAmount)] : [holding(filledAmount), filled];
    this.#balances.set(gets, add(this.#held(gets), got));
    this.#balances.set(gives, subtract(this.#held(gives), gave));
    this.#end(open, { result: 'filled', filled, filledAmount });
  }

  skip(number: number, reason: Reason = 'deadline'): void {
    this.#end(this.#open(number), { result: 'skipped', reason, filled: NO_QUANTITY, filledAmount: NO_MONEY });
  }

  #held(currency: string): Quantity {
    return this.#balances.get(currency) ?? NO_QUANTITY;
  }

  #open(number: number): Open {
    const open = this.#intents.find((one) => one.number === number);
    if (open?.isOpen !== true)
      throw new Error(
        `there is no open intent ${number}; open are ${
          this.#intents
            .filter(({ isOpen }) => isOpen)
            .map((one) => one.number)
            .join(', ') || 'none'
        }`,
      );
    return open;
  }

  #end(open: Open, outcome: Omit<(Wake & { on: 'outcome' })['outcome'], 'leg' | 'slice'>): void {
    this.#intents = this.#intents.map((one) => (one === open ? { ...one, isOpen: false } : one));
    this.#wake({ on: 'outcome', at: this.at, outcome: { leg: open.leg, slice: 0, ...outcome } });
  }

  /** Advances time to `end`: wakes the kernel whenever a wait is met on the way, and expires intents. */
  #passTo(end: Instant): void {
    for (;;) {
      const due = this.#nextDue();
      if (due === undefined || due.at > end || this.isFinished || this.fault !== undefined) break;
      this.at = instant(Math.max(this.at, due.at));
      if (due.expires !== undefined)
        this.#end(due.expires, {
          result: 'expired',
          reason: 'deadline',
          filled: NO_QUANTITY,
          filledAmount: NO_MONEY,
        });
      else if (due.isTime) this.#wake({ on: 'at', at: this.at, due: due.at });
      else if (!this.#look()) break;
    }
    this.at = instant(Math.max(this.at, end));
  }

  #nextDue(): { readonly at: Instant; readonly isTime: boolean; readonly expires?: Open } | undefined {
    const times = this.waits.flatMap((wait) => (wait.on === 'at' ? [{ at: wait.at, isTime: true }] : []));
    const conditions = this.waits.flatMap((wait) =>
      wait.on !== 'at' && wait.on !== 'outcome' && wait.notBefore > this.at && this.#met(wait) !== undefined
        ? [{ at: wait.notBefore, isTime: false }]
        : [],
    );
    const ends = this.#intents.flatMap((open) =>
      open.isOpen ? [{ at: instant(open.until), isTime: false, expires: open }] : [],
    );
    return [...times, ...conditions, ...ends].toSorted((a, b) => a.at - b.at)[0];
  }

  /** Wakes the kernel with the first condition that holds now. Returns whether one held. */
  #look(): boolean {
    if (this.isFinished || this.fault !== undefined) return false;
    for (const wait of this.waits) {
      if (wait.on === 'at' || wait.on === 'outcome' || wait.notBefore > this.at) continue;
      const wake = this.#met(wait);
      if (wake === undefined) continue;
      this.#wake(wake);
      return true;
    }
    return false;
  }

  #met(wait: Exclude<Wait, { on: 'at' | 'outcome' }>): Wake | undefined {
    const { at } = this;
    if (wait.on === 'price') {
      const mid = this.#prices.get(wait.pair);
      return mid !== undefined && isBeyond(mid, wait.is, price(wait.level))
        ? { on: 'price', at, price: mid }
        : undefined;
    }
    if (wait.on === 'inflow') {
      const balance = this.#held(wait.currency);
      return balance.gt(quantity(wait.above)) ? { on: 'inflow', at, balance } : undefined;
    }
    if (wait.on !== 'drift') return undefined;
    const known = { holdings: this.#balances, midOf: (pair: string) => this.#prices.get(pair) };
    const drift = hasDrifted(wait, known) ? driftOf(wait, known) : undefined;
    return drift && { on: 'drift', at, drift };
  }

  #wake(wake: Wake): void {
    if (this.isFinished || this.fault !== undefined) return;
    this.#take(
      wake.on,
      this.#bound.step(this.#now.state, wake, { begunAt: this.#begunAt, view: this.#view() }),
    );
  }

  #take(on: Wake['on'], step: Step<unknown>): void {
    this.steps.push({ at: this.at, on, note: step.fault ?? step.note });
    this.fault = step.fault;
    if (step.fault !== undefined) return;
    this.#now = step;
    this.isFinished = step.finished !== undefined;
    for (const sized of step.intents ?? []) this.#intents.push(this.#intentOf(sized));
  }

  #intentOf(sized: SizedIntent): Open {
    const { leg, pair, side, size, limit, deadline } = sized;
    return {
      number: this.#intents.length,
      leg,
      pair,
      side,
      ...(size.by === 'quantity' ? { quantity: text(size.quantity) } : { notional: text(size.amount) }),
      ...(limit === undefined ? {} : { limit: text(limit) }),
      until: deadline,
      isOpen: true,
      sized,
    };
  }

  #instrument(pair: string): Instrument {
    const { basePrecision = 8, quotePrecision = 2 } = this.#world;
    return { pair, ...currenciesOf(pair), basePrecision, quotePrecision, minimum: {} };
  }

  #view(): View {
    const { at } = this;
    return {
      at,
      instrument: (pair) => this.#instrument(pair),
      reference: (pair) => {
        const mid = this.#prices.get(pair);
        return mid && { pair, mid, at, source: 'tape' };
      },
      bars: (pair, intervalMs, count) =>
        (this.#bars.get(`${pair} ${intervalMs}`) ?? [])
          .filter(({ from }) => from + intervalMs <= at)
          .slice(-count),
      volume: () => undefined,
      isDelisted: () => false,
      holdings: new Map(this.#balances),
      valuation: undefined,
      debts: new Map(),
      rateOf: () => undefined,
      excessDebts: () => undefined,
      modeOf: () => undefined,
      orderMax: () => undefined,
      value: () => undefined,
      accountValue: () => ({ value: NO_MONEY, unpriced: [] }),
    };
  }
}

function declared(pair: string, pairs: readonly string[]): string {
  if (pairs.includes(pair)) return pair;
  throw new Error(`${pair} is not among the pairs of the document: ${pairs.join(', ')}`);
}
