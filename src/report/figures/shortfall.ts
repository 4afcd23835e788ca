import {
  add,
  approximate,
  cost,
  fraction,
  money,
  NO_MONEY,
  NO_QUANTITY,
  negate,
  price,
  quantity,
  quantityDown,
  ratio,
  ratioOf,
  roundEven,
  scale,
  subtract,
} from '../../core/money.ts';
import { feesInQuote } from '../../core/cycle/balance-changes.ts';
import type { Money, Price, Quantity, Ratio } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { arrivalPricesOf } from './arrival-price.ts';
import { nearestWhole, withFourDecimals } from './digits.ts';
import type { FillFacts, ParentFacts } from './facts.ts';
import type { SliceFacts } from './facts.ts';
import { isUnderWay } from './legs.ts';
import { windowOf } from './parent-window.ts';
import type { ParentWindow } from './parent-window.ts';
import type { PriceBook, Seen } from './prices.ts';

/** Decimals of the quantity that an unspent amount would have bought. */
export const QUANTITY_DECIMALS = 18;

/**
 * Cost breakdown in quote currency; positive is bad. `total` is `s·[Σ amount − F·P_d] + s·(Q − F)·(P_end − P_d) + fees`, and
 * the four parts sum to it exactly.
 */
export interface Shortfall {
  /** `s·Q·(P_a − P_d)`: the move between the time when it was due and its first slice. */
  readonly delay: Money;
  /** `s·(Σ amount − F·P_a)`: the traded part, compared with the arrival price. It is `timing + execution`. */
  readonly trading: Money;
  /** `s·Σ (F_k·d_k − F_k·P_a)`: how the price moved from arrival to the decision of each slice. */
  readonly timing: Money;
  /** `s·Σ (amount_k − F_k·d_k)`: the price of each slice compared with the price at its decision. */
  readonly execution: Money;
  /** `s·(Q − F)·(P_end − P_a)`: the untraded part. */
  readonly opportunity: Money;
  readonly fees: Money;
  readonly total: Money;
  /** `Q·P_d`: the base for basis points. */
  readonly paper: Money;
  /** `F·P_a`. The trading cost in basis points of this value is the slippage from the arrival price. */
  readonly atArrival: Money;
}

/** Figures of one parent. Amounts are exact. */
export interface ParentFigures {
  readonly facts: ParentFacts;
  readonly base: string;
  readonly quote: string;
  /** `Q`, in base currency. For a parent that spends an amount, the bought quantity plus the unspent amount at `P_d`. */
  readonly planned: Quantity | undefined;
  /** `F`, base currency. */
  readonly traded: Quantity;
  readonly amount: Money;
  readonly fees: Money;
  readonly decision: Seen | undefined;
  readonly arrival: Price | undefined;
  /** When it ended; until then, figures are as of the end of the period. */
  readonly endedAt: Instant;
  readonly isOpen: boolean;
  readonly window: ParentWindow;
  /** The price at the end of the window. */
  readonly end: Seen | undefined;
  /** `undefined` without a price at its arrival. */
  readonly shortfall: Shortfall | undefined;
  readonly slices: readonly SliceFigures[];
}

/** Figures of one slice. Positive is bad, quote currency. */
export interface SliceFigures {
  readonly facts: SliceFacts;
  readonly traded: Quantity;
  readonly amount: Money;
  /** Reference price when it was decided. */
  readonly decision: Price | undefined;
  /** Compared with its parent's arrival price. */
  readonly cost: Money | undefined;
  /** `F_k·P_a`: basis points of `cost` refer to it. */
  readonly paper: Money | undefined;
  readonly timing: Money | undefined;
  readonly execution: Money | undefined;
  /** Untraded remainder, base currency. */
  readonly untraded: Quantity;
  /**
   * `s·u·(P_later − d_k)`: the untraded part, at the next fill of the parent or at the end of its window. `undefined`
   * if there is no such price.
   */
  readonly missedCost: Money | undefined;
}

export interface Setting {
  readonly prices: PriceBook;
  /** End of the period, at whose prices open parents are valued. */
  readonly until: Instant;
  currencies(pair: string): { readonly base: string; readonly quote: string };
}

export const parentFigures = (parent: ParentFacts, setting: Setting): ParentFigures =>
  new Counted(parent, setting);

/** Computed on demand, because most parents need only a few figures. */
class Counted implements ParentFigures {
  readonly facts: ParentFacts;
  readonly base: string;
  readonly quote: string;
  readonly planned: Quantity | undefined;
  readonly traded: Quantity;
  readonly amount: Money;
  readonly fees: Money;
  readonly decision: Seen | undefined;
  readonly arrival: Price | undefined;
  readonly endedAt: Instant;
  readonly isOpen: boolean;
  readonly window: ParentWindow;
  readonly shortfall: Shortfall | undefined;
  readonly #prices: PriceBook;
  #end: { readonly seen: Seen | undefined } | undefined;
  #slices: readonly SliceFigures[] | undefined;

  constructor(parent: ParentFacts, setting: Setting) {
    const { prices } = setting;
    const sums = sumsOf(parent.fills);
    const { traded, amount, fees } = sums;
    const { arrival, decision } = arrivalPricesOf(parent, prices);
    const planned =
      decision === undefined ? undefined : plannedOf(parent, { traded, amount, at: decision.price });
    const { endedAt, isOpen } = endOf(parent, setting, planned !== undefined && planned.lte(traded));
    const { base, quote } = currenciesOf(parent, setting);
    this.facts = parent;
    this.base = base;
    this.quote = quote;
    this.planned = planned;
    this.traded = traded;
    this.amount = amount;
    this.fees = fees;
    this.decision = decision;
    this.arrival = arrival;
    this.endedAt = endedAt;
    this.isOpen = isOpen;
    this.window = windowOf(parent, { endedAt, isOpen }, setting.until);
    this.#prices = prices;
    // A fully traded parent needs no end price.
    const end = planned !== undefined && planned.eq(traded) ? arrival : this.end?.price;
    this.shortfall =
      planned === undefined || decision === undefined || arrival === undefined || end === undefined
        ? undefined
        : shortfallOf({ parent, sums, planned, decision: decision.price, arrival, end });
  }

  get end(): Seen | undefined {
    this.#end ??= { seen: this.#prices.midAt(this.facts.pair, this.window.until) };
    return this.#end.seen;
  }

  get slices(): readonly SliceFigures[] {
    return (this.#slices ??= slicesOf(this));
  }
}

function slicesOf(whole: ParentFigures): readonly SliceFigures[] {
  const { facts: parent } = whole;
  const slices = [...parent.slices.values()];
  const [only] = slices;
  if (only !== undefined && parent.fills.every(({ record }) => record.slice === only.slice))
    return slices.map((slice) => sliceFigures(slice, whole, slice === only ? whole : NO_SUMS));
  const fills = Map.groupBy(parent.fills, ({ record }) => record.slice);
  return slices.map((slice) => sliceFigures(slice, whole, sumsOf(fills.get(slice.slice) ?? [])));
}

/** `+x` for a buy, `−x` for a sell, because a higher price is bad for a buy. */
export const against = (side: 'buy' | 'sell', amount: Money): Money =>
  side === 'buy' ? amount : negate(amount);

/** `part / whole` in basis points, rounded to four decimals, to the nearest; `undefined` if `whole` is zero. */
export function bpsOf(part: Money, whole: Money): Ratio | undefined {
  if (whole.isZero()) return undefined;
  return (
    roundedBps(approximate(part) / approximate(whole)) ??
    roundEven(scale(fraction(part, whole), ratioOf(10_000)), 4)
  );
}

/** Like `bpsOf`, for a fraction; `undefined` if the rounding error of a double decides. */
export function roundedBps(fractionOf: number): Ratio | undefined {
  const units = nearestWhole(fractionOf * UNITS);
  return units === undefined ? undefined : scale(UNIT_BPS, ratioOf(units));
}

/** `bpsOf` as text, with its four decimals. */
export function statedBps(part: Money, whole: Money): string | undefined {
  if (whole.isZero()) return undefined;
  const units = part.isZero() ? 0 : nearestWhole((approximate(part) / approximate(whole)) * UNITS);
  return units === undefined ? bpsOf(part, whole)?.toFixed(4) : withFourDecimals(units);
}

/** Ten thousandths of a basis point; the error of the quotient of two doubles is far smaller. */
const UNITS = 1e8;
const UNIT_BPS = ratio('0.0001');

interface Sums {
  readonly traded: Quantity;
  readonly amount: Money;
  readonly fees: Money;
}

const NO_SUMS: Sums = { traded: NO_QUANTITY, amount: NO_MONEY, fees: NO_MONEY };

/** The fees of a fill that count as a cost, in quote currency: see `feesInQuote`. */
export const feesOf = ({ record, figures }: FillFacts): Money =>
  record.other_fees === undefined ? figures.fees : feesInQuote(record);

function sumsOf(fills: readonly FillFacts[]): Sums {
  const [first] = fills;
  if (first === undefined) return NO_SUMS;
  let { quantity: traded, amount } = first.figures;
  let fees = feesOf(first);
  for (let i = 1; i < fills.length; i++) {
    const fill = fills[i];
    if (fill === undefined) continue;
    const { figures } = fill;
    traded = add(traded, figures.quantity);
    amount = add(amount, figures.amount);
    fees = add(fees, feesOf(fill));
  }
  return { traded, amount, fees };
}

/** The total of a parent: as planned by its strategy, otherwise what it traded plus the remainder of its last slice. */
function plannedOf(
  parent: ParentFacts,
  { traded, amount, at }: { readonly traded: Quantity; readonly amount: Money; readonly at: Price },
): Quantity {
  const { told, by } = parent;
  const leftOfLast = (): Quantity => {
    const last = [...parent.slices.values()].at(-1);
    if (last === undefined) return NO_QUANTITY;
    return leftOf(last, sumsOf(parent.fills.filter(({ record }) => record.slice === last.slice)));
  };
  if (by === 'quantity') {
    if (told !== undefined) return quantity(told);
    return add(traded, leftOfLast());
  }
  if (told === undefined) return add(traded, leftOfLast());
  const spent = subtract(money(told), amount);
  return add(traded, spent.gt(0) ? quantityDown(spent, at, QUANTITY_DECIMALS) : NO_QUANTITY);
}

/**
 * The untraded remainder of a slice, base currency; for an amount, at the price of its decision, truncated to 18
 * decimals.
 */
function leftOf({ intent }: SliceFacts, { traded, amount }: Pick<Sums, 'traded' | 'amount'>): Quantity {
  if (intent.by === 'quantity') {
    const left = subtract(quantity(intent.size), traded);
    return left.gt(0) ? left : NO_QUANTITY;
  }
  const left = subtract(money(intent.size), amount);
  if (!left.gt(0) || intent.decision_price === undefined) return NO_QUANTITY;
  return quantityDown(left, price(intent.decision_price), QUANTITY_DECIMALS);
}

/**
 * A fully traded parent ends with its last fill; any other ends with its life, or with the outcome of its last slot if
 * the life has many parents.
 */
function endOf(
  parent: ParentFacts,
  { until }: Setting,
  isWhole: boolean,
): { readonly endedAt: Instant; readonly isOpen: boolean } {
  if (parent.unbegun !== undefined) {
    const overAt = parent.unbegun.overAt ?? parent.life?.overAt;
    return { endedAt: overAt ?? until, isOpen: overAt === undefined };
  }
  let [open, lastFill] = [false, parent.begunAt];
  for (const { end } of parent.slices.values()) open ||= end === undefined;
  for (const { record } of parent.fills) if (record.executed_at > lastFill) lastFill = record.executed_at;
  if (parent.slices.size === 0 || (isWhole && !open)) return { endedAt: instant(lastFill), isOpen: false };
  const { life, leg, slices, missed } = parent;
  if (open || leg === 'all' || isUnderWay(life?.state, leg)) {
    if (life?.overAt === undefined) return { endedAt: until, isOpen: true };
    return { endedAt: instant(Math.max(life.overAt, lastFill)), isOpen: false };
  }
  const ends = [...slices.values().map(({ at, end }) => end?.at ?? at), ...missed.map(({ at }) => at)];
  const lastEnd = ends.reduce<number>((latest, end) => Math.max(latest, end), lastFill);
  return { endedAt: instant(lastEnd), isOpen: false };
}

function currenciesOf(
  parent: ParentFacts,
  setting: Setting,
): { readonly base: string; readonly quote: string } {
  const [fill] = parent.fills;
  if (fill === undefined) return setting.currencies(parent.pair);
  return { base: fill.record.base, quote: fill.record.quote };
}

function shortfallOf({
  parent,
  sums: { traded, amount, fees },
  planned,
  decision,
  arrival,
  end,
}: {
  readonly parent: ParentFacts;
  readonly sums: Sums;
  readonly planned: Quantity;
  readonly decision: Price;
  readonly arrival: Price;
  readonly end: Price;
}): Shortfall {
  const { side } = parent;
  const left = subtract(planned, traded);
  const atArrival = cost(arrival, traded);
  const atSlices = decidedValue(parent, arrival, atArrival);
  const trading = against(side, subtract(amount, atArrival));
  // Most parents start when they are due, decide at one price and trade everything, and need no computation.
  const isOnTime = decision === arrival;
  const paid = isOnTime ? trading : against(side, subtract(amount, cost(decision, traded)));
  const missed = left.isZero() ? NO_MONEY : against(side, cost(subtract(end, decision), left));
  return {
    delay: isOnTime ? NO_MONEY : against(side, cost(subtract(arrival, decision), planned)),
    trading,
    timing: atSlices === atArrival ? NO_MONEY : against(side, subtract(atSlices, atArrival)),
    execution: atSlices === atArrival ? trading : against(side, subtract(amount, atSlices)),
    opportunity: left.isZero() ? NO_MONEY : against(side, cost(subtract(end, arrival), left)),
    fees,
    total: add(add(paid, missed), fees),
    paper: isOnTime && left.isZero() ? atArrival : cost(decision, planned),
    atArrival,
  };
}

/**
 * `Σ F_k·d_k`: the traded quantity at the price at each slice's decision. A slice without such a price counts at the
 * arrival price.
 */
function decidedValue(
  { slices, fills, arrival: first }: ParentFacts,
  arrival: Price,
  atArrival: Money,
): Money {
  const priceOfSlice = (slice: number): string | undefined =>
    slices.get(slice)?.intent.decision_price ?? first;
  if (fills.every(({ record }) => priceOfSlice(record.slice) === first)) return atArrival;
  return fills.reduce((sum, { record, figures }) => {
    const decided = priceOfSlice(record.slice);
    return add(sum, cost(decided === undefined ? arrival : price(decided), figures.quantity));
  }, NO_MONEY);
}

function sliceFigures(slice: SliceFacts, parent: ParentFigures, sums: Sums): SliceFigures {
  const { facts, arrival } = parent;
  const { side } = facts;
  const { traded, amount } = sums;
  const { decision_price: decided } = slice.intent;
  const decision = decided === undefined ? undefined : price(decided);
  const paper = arrival === undefined ? undefined : cost(arrival, traded);
  const isAtArrival = decision !== undefined && arrival?.eq(decision) === true;
  const atDecision = isAtArrival ? paper : decision && cost(decision, traded);
  const difference = (a: Money | undefined, b: Money | undefined): Money | undefined =>
    a === undefined || b === undefined ? undefined : against(side, subtract(a, b));
  const paid = difference(amount, paper);
  const untraded = slice.end === undefined ? NO_QUANTITY : leftOf(slice, sums);
  const later = untraded.isZero() ? undefined : priceAfter(slice, facts, parent.end?.price);
  return {
    facts: slice,
    traded,
    amount,
    decision,
    paper,
    cost: paid,
    timing: isAtArrival ? NO_MONEY : difference(atDecision, paper),
    execution: isAtArrival ? paid : difference(amount, atDecision),
    untraded,
    missedCost:
      decision === undefined || later === undefined
        ? undefined
        : against(side, cost(subtract(later, decision), untraded)),
  };
}

/** The price at which the parent next traded after a slice, otherwise its end price. */
const priceAfter = (
  { at, end: over }: SliceFacts,
  { fills }: ParentFacts,
  end: Price | undefined,
): Price | undefined => tradedFrom(fills, over?.at ?? at) ?? end;

/** The price of the first fill from an instant on. */
export function tradedFrom(fills: readonly FillFacts[], from: Instant): Price | undefined {
  const inOrder = asTraded(fills);
  let [low, high] = [0, inOrder.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const fill = inOrder[middle];
    if (fill !== undefined && fill.record.executed_at < from) low = middle + 1;
    else high = middle;
  }
  const next = inOrder[low];
  return next && price(next.record.price);
}

/**
 * Fills in the order of their trades, because trades that the account shows late are booked after newer fills. Sorted
 * only once, because each slice of a long parent reads them.
 */
function asTraded(fills: readonly FillFacts[]): readonly FillFacts[] {
  const known = ordered.get(fills);
  if (known?.length === fills.length) return known;
  const inOrder = fills.toSorted((a, b) => a.record.executed_at - b.record.executed_at);
  ordered.set(fills, inOrder);
  return inOrder;
}
const ordered = new WeakMap<readonly FillFacts[], readonly FillFacts[]>();
