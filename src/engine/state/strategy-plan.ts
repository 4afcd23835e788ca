import type { Instrument } from '../../core/instrument.ts';
import { add, NO_QUANTITY, quantity } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { BoundStrategy } from '../../strategy/kernel.ts';

/** The planned trades of a strategy of one pair, in base quantity or in quote amount. */
export interface StrategyPlan {
  readonly by: 'quantity' | 'amount';
  readonly total: Quantity;
  /** Size of each slice, if known in advance. */
  readonly sizes: ReadonlyMap<number, Quantity>;
  /** Maximum number of slices with an order. */
  readonly slices: number;
}

/** The plan of a strategy that knows its slices or its total in advance; `undefined` for a strategy that decides at each step. */
export function planOf(
  bound: BoundStrategy,
  begunAt: Instant,
  instrument: (pair: string) => Instrument,
): StrategyPlan | undefined {
  const [pair, ...more] = bound.pairs;
  if (pair === undefined || more.length > 0) return undefined;
  const known = instrument(pair);
  const slots = bound.slots(begunAt, known);
  const [first] = slots;
  if (first === undefined) return ceilingOf(bound, known);
  const sizes = new Map(slots.map(({ slice, size }) => [slice, quantity(size)]));
  const total = [...sizes.values()].reduce((sum, size) => add(sum, size), NO_QUANTITY);
  return { by: first.currency === known.base ? 'quantity' : 'amount', total, sizes, slices: sizes.size };
}

function ceilingOf(bound: BoundStrategy, instrument: Instrument): StrategyPlan | undefined {
  const ceiling = bound.ceiling(instrument);
  if (ceiling === undefined) return undefined;
  const { total, currency, slices } = ceiling;
  const by = currency === instrument.base ? 'quantity' : 'amount';
  return { by, total: quantity(total), sizes: new Map(), slices };
}
