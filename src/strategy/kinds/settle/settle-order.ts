import type { Instrument } from '../../../core/instrument.ts';
import {
  add,
  cost,
  counted,
  fraction,
  greatest,
  holding,
  least,
  money,
  NO_MONEY,
  NO_QUANTITY,
  ONE,
  quantityDown,
  quantityUp,
  ratio,
  ratioOf,
  roundDown,
  roundUp,
  scale,
  text,
} from '../../../core/money.ts';
import type { Price, Quantity } from '../../../core/money.ts';
import type { Debt } from '../../../core/risk/settling.ts';
import type { Side, Size } from '../../../core/venue.ts';
import type { Step, View } from '../../kernel.ts';
import { pieceOf } from '../../worker/pieces.ts';
import { sizeOf } from '../../worker/total.ts';

/** The settings for closing a debt. */
interface ClosingPlan {
  /** Pairs that may close a debt; the first pair that can close it is used. */
  readonly pairs: readonly string[];
  /** Amount traded beyond the debt, in basis points. */
  readonly buffer_bps: number;
  /** Largest piece, in quote currency. */
  readonly max_slice_notional?: { readonly amount: string } | undefined;
}

/** One piece of a closing. */
export interface ClosingOrder {
  readonly pair: string;
  readonly side: Side;
  readonly size: Size;
}
type Why = Required<Pick<Step<unknown>, 'reason' | 'note'>>;

/** Allowance for a quote that is worse than the reference price. */
const SPREAD = ratio('1.01');

/**
 * Returns the next piece that closes a debt, or why there is none. The piece is in the first pair that can close the
 * debt, and is paid from the account's own holdings, so that one debt is never paid with another.
 */
export function orderFor(
  plan: ClosingPlan,
  debt: Debt & { readonly currency: string },
  view: View,
): ClosingOrder | Why {
  const { currency } = debt;
  const own = plan.pairs
    .map((pair) => view.instrument(pair))
    .filter(({ base, quote }) => base === currency || quote === currency);
  const unpriced = own.filter(({ pair }) => view.reference(pair) === undefined);
  for (const instrument of own) {
    const mid = view.reference(instrument.pair)?.mid;
    if (mid === undefined) continue;
    const [side, pays] =
      instrument.quote === currency
        ? (['sell', instrument.base] as const)
        : (['buy', instrument.quote] as const);
    const held = view.holdings?.get(pays) ?? NO_QUANTITY;
    const question: Question = { plan, instrument, mid, owed: withBuffer(plan, debt.amount), held };
    const size = held.gt(0) ? (side === 'sell' ? saleFor(question) : purchaseFor(question)) : undefined;
    if (size !== undefined) return { pair: instrument.pair, side, size };
  }
  return unpriced.length > 0
    ? { reason: 'no_reference', note: unpriced.map(({ pair }) => pair).join(', ') }
    : {
        reason: 'no_funds',
        note: `owes ${text(debt.amount)} ${currency}, but holds nothing that can close it`,
      };
}

interface Question {
  readonly plan: ClosingPlan;
  readonly instrument: Instrument;
  readonly mid: Price;
  /** Debt including the buffer, in its own currency. */
  readonly owed: Quantity;
  /** Holding of the currency that the order pays with. */
  readonly held: Quantity;
}

const withBuffer = ({ buffer_bps: bps }: ClosingPlan, owed: Quantity): Quantity =>
  scale(owed, add(ONE, fraction(ratioOf(bps), ratioOf(10_000))));

/** Returns one piece of an order, in the unit of its size. */
function pieceFor(by: Size['by'], wanted: Quantity, { plan, instrument, mid }: Question): Size {
  const { basePrecision, quotePrecision } = instrument;
  const most = plan.max_slice_notional && money(plan.max_slice_notional.amount);
  const cut =
    by === 'amount'
      ? { largest: most && holding(most), precision: quotePrecision }
      : { largest: most && quantityDown(most, mid, basePrecision), precision: basePrecision };
  return sizeOf(by, pieceOf(wanted, cut));
}

/** Sells enough to get the amount owed, but at least the venue's minimum; sells the whole holding if that does not suffice. */
function saleFor(question: Question): Size | undefined {
  const { instrument, mid, owed, held } = question;
  const { minimum, basePrecision, quotePrecision } = instrument;
  const leastSale = greatest(
    minimum.notional ?? NO_MONEY,
    scale(cost(mid, minimum.quantity ?? NO_QUANTITY), SPREAD),
  );
  const wanted = roundUp(greatest(owed, holding(leastSale)), quotePrecision);
  const worth = cost(mid, held);
  if (scale(wanted, SPREAD).lte(worth)) return pieceFor('amount', wanted, question);
  const whole = roundDown(held, basePrecision);
  return worth.lt(leastSale) || whole.isZero() ? undefined : pieceFor('quantity', whole, question);
}

/** Buys the amount owed, but at least the venue's minimum; buys what the holding can pay for if that is less. */
function purchaseFor(question: Question): Size | undefined {
  const { instrument, mid, owed, held } = question;
  const { minimum, basePrecision } = instrument;
  const leastBuy = greatest(
    minimum.quantity ?? NO_QUANTITY,
    quantityUp(scale(minimum.notional ?? NO_MONEY, SPREAD), mid, basePrecision),
  );
  const affordable = quantityDown(counted(held), scale(mid, SPREAD), basePrecision);
  const wanted = least(roundUp(greatest(owed, leastBuy), basePrecision), affordable);
  return !wanted.gt(0) || wanted.lt(leastBuy) ? undefined : pieceFor('quantity', wanted, question);
}
