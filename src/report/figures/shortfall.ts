import { add, approximate, cost, fraction, money, NO_MONEY, NO_QUANTITY, negate, price, priceEven, quantity, quantityDown, ratioOf, roundEven, scale, subtract, text } from '../../core/money.ts'; // prettier-ignore
import { feesInQuote } from '../../core/cycle/balance-changes.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { arrivalPricesOf } from './arrival-price.ts';
import { fixed } from './digits.ts';
import type { FillFacts, ParentFacts } from './facts.ts';
import type { SliceFacts } from './facts.ts';
import { isUnderWay } from './legs.ts';
import { windowOf } from './parent-window.ts';
import type { ParentWindow } from './parent-window.ts';
import type { PriceBook, Seen } from './prices.ts';
import { mapped } from './rows.ts';
import { COST_PARTS } from '../json/schema-parts.ts';
import type { Costs } from '../json/schema-parts.ts';

/** Decimals of the quantity that an unspent amount would have bought. */
export const QUANTITY_DECIMALS = 18;

const SHORTFALL = ['paper', ...COST_PARTS, 'atArrival'] as const;
/** The exact amounts of `costs` in a report; `atArrival` is `F·P_a`, the base of the slippage from the arrival price. */
export type Shortfall = Readonly<Record<(typeof SHORTFALL)[number], Money>>;

export const sumOfShortfalls = (all: readonly Shortfall[]): Shortfall =>
  mapped(SHORTFALL, (part) => all.reduce((sum, one) => add(sum, one[part]), NO_MONEY));

/** Costs as `report.json` has them. */
export function costsOf(shortfall: Shortfall): Costs {
  const { paper, trading, fees, atArrival } = shortfall;
  return {
    ...mapped(['paper', ...COST_PARTS], (part) => text(shortfall[part])),
    bps: paper.isZero() ? undefined : mapped(COST_PARTS, (part) => statedBps(shortfall[part], paper) ?? ''),
    arrival_slippage_bps: statedBps(trading, atArrival),
    all_in_bps: statedBps(add(trading, fees), atArrival),
  };
}

/** The average price of a unit, with twelve decimals, halves to even; `undefined` if nothing traded. */
export const averageOf = (amount: Money, traded: Quantity): string | undefined =>
  traded.isZero() ? undefined : text(priceEven(amount, traded, 12));

/** Exact amounts of a slice, as `report.json` describes them; `paper` is `F_k·P_a`, `atDecision` `F_k·d_k`. */
export interface SliceFigures extends Pick<Sums, 'traded' | 'amount'> {
  readonly facts: SliceFacts;
  readonly decision: Price | undefined;
  readonly cost: Money | undefined;
  readonly paper: Money | undefined;
  readonly atDecision: Money | undefined;
  readonly timing: Money | undefined;
  readonly execution: Money | undefined;
  readonly untraded: Quantity;
  readonly missedCost: Money | undefined;
}

export interface Setting {
  readonly prices: PriceBook;
  /** End of the period. */
  readonly until: Instant;
  currencies(pair: string): { readonly base: string; readonly quote: string };
}

/** Exact figures of one parent, as `report.json` describes them. */
export class ParentFigures implements Sums {
  readonly facts: ParentFacts;
  readonly base: string;
  readonly quote: string;
  readonly traded: Quantity;
  readonly amount: Money;
  readonly fees: Money;
  /** In base currency. For a parent that spends an amount, the bought quantity plus the unspent amount at `P_d`. */
  readonly planned: Quantity | undefined;
  readonly decision: Seen | undefined;
  readonly arrival: Price | undefined;
  /** When it ended; until then, the end of the period. */
  readonly endedAt: Instant;
  readonly isOpen: boolean;
  readonly window: ParentWindow;
  /** `undefined` without a price at its arrival. */
  readonly shortfall: Shortfall | undefined;
  readonly #prices: PriceBook;

  constructor(facts: ParentFacts, setting: Setting) {
    const sums = sumsOf(facts.fills);
    const { arrival, decision } = arrivalPricesOf(facts, setting.prices);
    const planned = decision && plannedOf(facts, { ...sums, at: decision.price });
    const { endedAt, isOpen } = endOf(facts, setting, planned?.lte(sums.traded) === true);
    // What an open parent has not traded yet is no cost.
    const due = isOpen ? planned && sums.traded : planned;
    const { base, quote } = facts.fills[0]?.record ?? setting.currencies(facts.pair);
    this.facts = facts;
    this.base = base;
    this.quote = quote;
    this.traded = sums.traded;
    this.amount = sums.amount;
    this.fees = sums.fees;
    this.planned = planned;
    this.decision = decision;
    this.arrival = arrival;
    this.endedAt = endedAt;
    this.isOpen = isOpen;
    this.window = windowOf(facts, { endedAt, isOpen }, setting.until);
    this.#prices = setting.prices;
    // A fully traded parent needs no end price.
    const end = due?.eq(sums.traded) === true ? arrival : this.end?.price;
    this.shortfall =
      due && decision && arrival && end
        ? shortfallOf({ parent: facts, sums, planned: due, decision: decision.price, arrival, end })
        : undefined;
  }

  /** The price at the end of the window; `undefined` while the parent is open. */
  get end(): Seen | undefined {
    return this.isOpen ? undefined : this.#prices.midAt(this.facts.pair, this.window.until);
  }

  get slices(): readonly SliceFigures[] {
    const { slices, fills } = this.facts;
    const bySlice = Map.groupBy(fills, ({ record }) => record.slice);
    const end = this.end?.price;
    return [...slices.values()].map((slice) =>
      sliceFigures(slice, this, { ...sumsOf(bySlice.get(slice.slice) ?? []), end }),
    );
  }
}

/** `+x` for a buy, `−x` for a sell, because a higher price is bad for a buy. */
export const against = (side: 'buy' | 'sell', amount: Money): Money =>
  side === 'buy' ? amount : negate(amount);

/** `part / whole` in basis points with four decimals, to the nearest, halves to even; `undefined` if `whole` is zero. */
export function statedBps(part: Money, whole: Money): string | undefined {
  if (whole.isZero()) return undefined;
  // The error of the quotient of two doubles is far smaller than this distance from a half.
  const units = (approximate(part) / approximate(whole)) * 1e8;
  const isClear = Math.abs(units) < 1e9 && 0.5 - Math.abs(units - Math.round(units)) > 1e-6;
  if (isClear) return fixed(Math.round(units) / 10_000, 4);
  return roundEven(scale(fraction(part, whole), ratioOf(10_000)), 4).toFixed(4);
}

interface Sums {
  readonly traded: Quantity;
  readonly amount: Money;
  readonly fees: Money;
}

/** The fees of a fill that count as a cost, in quote currency: see `feesInQuote`. */
export const feesOf = ({ record, figures }: FillFacts): Money =>
  record.other_fees === undefined ? figures.fees : feesInQuote(record);

const sumsOf = (fills: readonly FillFacts[]): Sums => ({
  traded: fills.reduce((sum, { figures }) => add(sum, figures.quantity), NO_QUANTITY),
  amount: fills.reduce((sum, { figures }) => add(sum, figures.amount), NO_MONEY),
  fees: fills.reduce((sum, fill) => add(sum, feesOf(fill)), NO_MONEY),
});

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
  const atArrival = cost(arrival, traded);
  const atSlices = decidedValue(parent, arrival);
  const bad = (difference: Money): Money => against(side, difference);
  const delay = bad(cost(subtract(arrival, decision), planned));
  const trading = bad(subtract(amount, atArrival));
  const opportunity = bad(cost(subtract(end, arrival), subtract(planned, traded)));
  return {
    paper: cost(decision, planned),
    delay,
    trading,
    timing: bad(subtract(atSlices, atArrival)),
    execution: bad(subtract(amount, atSlices)),
    opportunity,
    fees,
    total: add(add(delay, trading), add(opportunity, fees)),
    atArrival,
  };
}

/**
 * `Σ F_k·d_k`: the traded quantity at the price at each slice's decision. A slice without such a price counts at the
 * arrival price.
 */
const decidedValue = ({ slices, fills, arrival: first }: ParentFacts, arrival: Price): Money =>
  fills.reduce((sum, { record, figures }) => {
    const decided = slices.get(record.slice)?.intent.decision_price ?? first;
    return add(sum, cost(decided === undefined ? arrival : price(decided), figures.quantity));
  }, NO_MONEY);

function sliceFigures(
  slice: SliceFacts,
  { facts, arrival }: ParentFigures,
  { end, ...sums }: Sums & { readonly end: Price | undefined },
): SliceFigures {
  const { decision_price: decided } = slice.intent;
  const decision = decided === undefined ? undefined : price(decided);
  const paper = arrival && cost(arrival, sums.traded);
  const atDecision = decision && cost(decision, sums.traded);
  const difference = (a: Money | undefined, b: Money | undefined): Money | undefined =>
    a && b && against(facts.side, subtract(a, b));
  const untraded = slice.end === undefined ? NO_QUANTITY : leftOf(slice, sums);
  const later = untraded.isZero() ? undefined : (tradedFrom(facts.fills, slice.end?.at ?? slice.at) ?? end);
  return {
    facts: slice,
    traded: sums.traded,
    amount: sums.amount,
    decision,
    paper,
    atDecision,
    cost: difference(sums.amount, paper),
    timing: difference(atDecision, paper),
    execution: difference(sums.amount, atDecision),
    untraded,
    missedCost: later && decision && against(facts.side, cost(subtract(later, decision), untraded)),
  };
}

/** The price of the first fill from an instant on. Trades that the account shows late are booked after newer fills. */
export function tradedFrom(fills: readonly FillFacts[], from: Instant): Price | undefined {
  let next: FillFacts | undefined;
  for (const fill of fills) {
    const { executed_at: at } = fill.record;
    if (at >= from && (next === undefined || at < next.record.executed_at)) next = fill;
  }
  return next && price(next.record.price);
}
