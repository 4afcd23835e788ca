import type { Bar } from '../../core/bar.ts';
import type { Instrument } from '../../core/instrument.ts';
import type { ReferencePrice } from '../../core/reference-price.ts';
import { add, cost, NO_MONEY, price, worsen } from '../../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../../core/money.ts';
import { priceIn, valueOn } from '../../core/risk/portfolio.ts';
import type { Basis, Targets, Valued } from '../../core/risk/portfolio.ts';
import type { Debt } from '../../core/risk/settling.ts';
import type { Instant } from '../../core/time.ts';
import type { FundingRate, RiskMode, Side } from '../../core/venue.ts';
import type { View } from '../../strategy/kernel.ts';
import { orderMaxOf } from '../attempt/order-max-of.ts';
import { debtsOf } from '../account/debts.ts';
import { excessDebts } from '../market/headroom.ts';
import type { Desk } from '../desk.ts';
import { currentValuation } from '../account/transfers.ts';

const NOTHING_HELD: ReadonlyMap<string, Quantity> = new Map();
const UNIT = price('1');

/** The view of a desk that a kernel gets for one step; computed on use. */
export class DeskView implements View {
  readonly at: Instant;
  readonly #desk: Desk;

  constructor(desk: Desk) {
    this.at = desk.ports.clock.wall();
    this.#desk = desk;
  }

  instrument(pair: string): Instrument {
    return this.#desk.instruments.of(pair);
  }

  reference(pair: string): ReferencePrice | undefined {
    return this.#desk.references.get(pair);
  }

  volume(pair: string): Quantity | undefined {
    return this.#desk.ports.market?.volume?.(pair);
  }

  bars(pair: string, intervalMs: number, count: number): readonly Bar[] {
    const { ports, bars } = this.#desk;
    return ports.market?.bars?.(pair, intervalMs, count) ?? bars.newest(pair, intervalMs, count);
  }

  isDelisted(pair: string): boolean {
    return this.#desk.ports.market?.isDelisted?.(pair) ?? false;
  }

  get holdings(): ReadonlyMap<string, Quantity> | undefined {
    return this.#desk.state.balances;
  }

  get valuation(): Money | undefined {
    return currentValuation(this.#desk);
  }

  get debts(): ReadonlyMap<string, Debt> {
    return debtsOf(this.#desk.state);
  }

  rateOf(currency: string): FundingRate | undefined {
    return this.#desk.pts.rate(currency);
  }

  excessDebts(headroom: Ratio): ReadonlyMap<string, Quantity> | undefined {
    return excessDebts(this.#desk, headroom);
  }

  modeOf(pair: string): RiskMode | undefined {
    return this.#desk.pts.mode(pair);
  }

  orderMax(pair: string, side: Side): Quantity | undefined {
    const { limits } = this.#desk.policy;
    const mid = this.#midOf(pair);
    if (mid === undefined) return undefined;
    const dearest = side === 'buy' ? worsen(side, mid, limits.collarBps) : mid;
    return orderMaxOf(this.#desk, this.instrument(pair), dearest);
  }

  value(targets: Targets, basis: Basis): Valued | undefined {
    const holdings = this.holdings ?? NOTHING_HELD;
    return valueOn(targets, basis, { holdings, midOf: (pair) => this.#midOf(pair) });
  }

  accountValue(basis: Basis): { readonly value: Money; readonly unpriced: readonly string[] } {
    let total = NO_MONEY;
    const unpriced: string[] = [];
    for (const [currency, amount] of this.holdings ?? NOTHING_HELD) {
      const isPlain = amount.isZero() || currency === basis.cash;
      const each = isPlain ? UNIT : priceIn(currency, basis, (pair) => this.#midOf(pair));
      if (each === undefined) unpriced.push(currency);
      else total = add(total, cost(each, amount));
    }
    return { value: total, unpriced };
  }

  #midOf(pair: string): Price | undefined {
    return this.reference(pair)?.mid;
  }
}
