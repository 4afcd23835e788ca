import type { Position, Proposal, RiskContext } from '../../core/risk/limits.ts';
import type { Caps, Repeats } from '../../core/risk/limits.ts';
import {
  add,
  counted,
  fraction,
  holding,
  money,
  negate,
  NO_MONEY,
  NO_QUANTITY,
  ONE,
  price,
  quantity,
  quantityUp,
  ratio,
  scale,
  subtract,
} from '../../core/money.ts';
import type { Money, Quantity, Ratio } from '../../core/money.ts';
import type { IntentRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { Size } from '../../core/venue.ts';
import type { Desk } from '../desk.ts';
import type { OpenAttempt, OpenSlice } from '../state/engine-state.ts';
import type { StrategyPlan } from '../state/strategy-plan.ts';
import { doneOf } from '../state/totals.ts';
import type { ParentTotals } from '../state/totals.ts';
import { repeatsOf } from './repeats.ts';

/** The order that an attempt would send, and its ids. */
export interface Trial extends Pick<Proposal, 'quantity' | 'price'> {
  readonly slice: OpenSlice;
  readonly size: Size;
  /** Quote currency. */
  readonly amount: Quantity;
  /** The attempt being checked. Its own reservation does not count against it. */
  readonly clientId?: string | undefined;
}

/** All values that limits are compared with, for one attempt at this moment. */
export const riskContextOf = (desk: Desk, trial: Trial): RiskContext => new DeskWorld(desk, trial);

/** Sums are computed only when a limit reads them, because most desks have few limits, and every open attempt counts in a sum. */
class DeskWorld implements RiskContext {
  readonly #desk: Desk;
  readonly #trial: Trial;
  readonly #today: Instant;
  readonly #doubts: Doubts;
  readonly control: RiskContext['control'];
  readonly at: Instant;
  readonly repeats: Repeats;
  readonly caps: Caps;

  constructor(desk: Desk, trial: Trial) {
    const { control } = desk;
    const plan = desk.strategies.plan(trial.slice.strategy);
    const known = desk.state.totals.parent(trial.slice.intent.parent);
    this.#desk = desk;
    this.#trial = trial;
    this.#today = desk.limitDay.now();
    this.#doubts = doubtsOf(desk, trial);
    // A pause ends nothing in progress. An attempt that has requested its quote may continue to its order.
    this.control = trial.clientId !== undefined && control === 'paused' ? 'active' : control;
    this.at = desk.ports.clock.wall();
    this.repeats = repeatsOf(desk, trial, { at: this.at, known, planned: plan?.slices });
    this.caps = capsOf(desk, trial, { known, plan });
  }

  get isStopping(): boolean {
    return this.#desk.isStopping;
  }

  get pausedWhy(): string | undefined {
    const { slice } = this.#trial;
    const { parent, pair } = slice.intent;
    const why = notRunWhy(this.#desk, slice);
    if (why !== undefined) return why;
    const { totals } = this.#desk.state;
    return totals.isPricePaused(parent) && this.#isTrial(parent)
      ? totals.pairPausedWhy(pair)
      : totals.pausedWhy(parent, pair);
  }

  /**
   * Whether a parent that is paused because prices disagree may request a trial quote, or has one. The gate approves no
   * order from it.
   */
  #isTrial(parent: string): boolean {
    const { ports, priceTrials } = this.#desk;
    return this.#trial.clientId !== undefined || priceTrials.isDue(parent, ports.clock.monotonic());
  }

  get blind(): RiskContext['blind'] {
    return blindness(this.#desk);
  }

  get openDoubts(): number {
    return this.#doubts.open;
  }

  get pairDoubts(): number {
    return this.#doubts.ofPair;
  }

  get doubtNotional(): Money {
    return this.#doubts.notional;
  }

  get dayNotional(): Money {
    return this.#dayNotional(undefined);
  }

  get pairDayNotional(): Money {
    return this.#dayNotional(this.#trial.slice.intent.pair);
  }

  #dayNotional(pair: string | undefined): Money {
    const { state } = this.#desk;
    const open = state.openNotional(pair, this.#trial.clientId);
    const traded = state.totals.dayNotional(this.#today, pair);
    return open.isZero() ? traded : add(traded, open);
  }

  get referenceGapBps(): Ratio | undefined {
    return this.#desk.references.gapBps(this.#trial.slice.intent.pair);
  }

  get referenceGapBpsMax(): Ratio | undefined {
    return this.#desk.policy.reference.gapBpsMax;
  }

  get isReducing(): boolean {
    return isReducing(this.#desk, this.#trial, broughtBy(this.#desk, this.#trial));
  }

  get gives(): Position {
    const { slice, quantity: sold, amount, clientId } = this.#trial;
    const { base, quote } = this.#desk.instruments.of(slice.intent.pair);
    const [pays, paid] = slice.intent.side === 'buy' ? [quote, amount] : [base, sold];
    return this.#desk.policy.limits.positionMin?.has(pays) === true
      ? givenPosition(this.#desk, pays, paid, clientId)
      : unasked(pays);
  }

  get gets(): Position {
    const { brings, brought } = broughtBy(this.#desk, this.#trial);
    return this.#desk.policy.limits.positionMax?.has(brings) === true
      ? gottenPosition(this.#desk, brings, brought, this.#trial.clientId)
      : unasked(brings);
  }
}

interface Brought {
  readonly brings: string;
  readonly brought: Quantity;
}

/** The currency whose balance an order increases, and by how much. */
function broughtBy(desk: Desk, { slice, quantity: bought, amount }: Trial): Brought {
  const { pair, side } = slice.intent;
  const { base, quote } = desk.instruments.of(pair);
  return side === 'buy' ? { brings: base, brought: bought } : { brings: quote, brought: amount };
}

interface Doubts {
  readonly open: number;
  readonly ofPair: number;
  /** At worst, in the currency of the limits. */
  readonly notional: Money;
}
const NO_DOUBTS: Doubts = { open: 0, ofPair: 0, notional: NO_MONEY };

/** Attempts whose outcome is unknown, except this one, and fills with a missing part. */
function doubtsOf(desk: Desk, { slice, clientId }: Trial): Doubts {
  const { attempts, lacking } = desk.state;
  if (attempts.size === 0 && lacking.size === 0) return NO_DOUBTS;
  let doubts = NO_DOUBTS;
  for (const { intent, doubt } of attempts.values()) {
    if (doubt === undefined || intent.client_order_id === clientId) continue;
    doubts = {
      open: doubts.open + 1,
      ofPair: doubts.ofPair + (intent.pair === slice.intent.pair ? 1 : 0),
      notional: add(doubts.notional, money(intent.notional_usd)),
    };
  }
  // A missing part counts in its fill's parent. A later parent of the strategy may rely on the account's balance, which
  // also lacks the missing part.
  const { parent, pair } = slice.intent;
  for (const fill of lacking.values()) {
    if (fill.strategy === slice.strategy && fill.parent !== parent && fill.pair === pair)
      doubts = { ...doubts, ofPair: doubts.ofPair + 1 };
  }
  return doubts;
}

/** Why nothing new may start for the strategy of a slice. */
const notRunWhy = (desk: Desk, slice: OpenSlice): string | undefined =>
  desk.strategies.isRun(slice)
    ? desk.state.totals.strategyPausedWhy(slice.strategy)
    : `strategy ${slice.strategy} is no longer running`;

/** Nothing starts on stale data. A recent whole read of the account is required. */
export function blindness(desk: Desk): RiskContext['blind'] {
  const { accountAgeMaxMs } = desk.policy;
  if (accountAgeMaxMs === undefined) return undefined;
  const ageMs = desk.ports.clock.monotonic() - (desk.account.lastReadAt ?? Number.NEGATIVE_INFINITY);
  return ageMs <= accountAgeMaxMs
    ? undefined
    : { limit: `${accountAgeMaxMs / 1000} s`, value: `${Math.round(ageMs / 1000)} s` };
}

const unasked = (currency: string): Position => ({ currency, after: undefined });

function givenPosition(desk: Desk, currency: string, paid: Quantity, except: string | undefined): Position {
  const available = desk.state.available(currency, except);
  return { currency, after: available && subtract(available, paid) };
}

function gottenPosition(
  desk: Desk,
  currency: string,
  brought: Quantity,
  except: string | undefined,
): Position {
  if (desk.state.balances === undefined) return { currency, after: undefined };
  let sum = add(desk.state.balances.get(currency) ?? NO_QUANTITY, brought);
  for (const { intent } of desk.state.attempts.values()) {
    if (intent.client_order_id !== except)
      sum = add(sum, incoming(intent, currency, desk.policy.limits.collarBps));
  }
  return { currency, after: sum };
}

/**
 * Returns the most that an attempt can add to the balance of a currency. The collar bounds this, because no quote outside
 * it is accepted.
 */
function incoming(intent: IntentRecord, currency: string, collarBps: ReturnType<typeof ratio>): Quantity {
  const sized = quantity(intent.size);
  const reach = fraction(collarBps, ratio('10000'));
  const reference = price(intent.reference_price);
  if (intent.side === 'buy') {
    if (currency !== intent.base) return NO_QUANTITY;
    const cheapest = scale(reference, subtract(ONE, reach));
    if (intent.by === 'quantity' || !cheapest.gt(0)) return sized;
    return quantityUp(counted(sized), cheapest, 18);
  }
  if (currency !== intent.quote) return NO_QUANTITY;
  return intent.by === 'amount' ? sized : scale(sized, ratio(scale(reference, add(ONE, reach)).toFixed(18)));
}

/** A balance below zero moves towards zero and does not cross it. */
function isReducing(desk: Desk, { clientId }: Trial, { brings, brought }: Brought): boolean {
  const { after: sum } = gottenPosition(desk, brings, brought, clientId);
  const borrowed = negate(desk.state.balances?.get(brings) ?? NO_QUANTITY);
  return borrowed.gt(0) && sum?.lte(0) === true;
}

function capsOf(
  desk: Desk,
  { slice, size, clientId }: Trial,
  { known, plan }: { readonly known: ParentTotals | undefined; readonly plan: StrategyPlan | undefined },
): Caps {
  const { intent } = slice;
  const isOfPlan = plan !== undefined && plan.by === intent.by;
  let done = known === undefined ? NO_QUANTITY : doneOf(known, intent.by);
  for (const open of desk.state.attempts.values()) {
    if (open.intent.parent !== intent.parent || open.intent.client_order_id === clientId) continue;
    done = add(done, worstOf(open, intent.by));
  }
  return {
    asked: size.by === 'quantity' ? size.quantity : holding(size.amount),
    parentDone: done,
    parentMax: isOfPlan ? plan.total : known?.decided,
    slice: quantity(intent.size),
    slicePlanned: isOfPlan ? plan.sizes.get(intent.slice) : undefined,
  };
}

const worstOf = ({ intent }: OpenAttempt, by: 'quantity' | 'amount'): Quantity =>
  intent.by === by ? quantity(intent.size) : NO_QUANTITY;
