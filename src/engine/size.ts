import { map, mergeMap, takeUntil } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { worstPrice } from '../core/controls.ts';
import {
  cost,
  greatest,
  money,
  NO_MONEY,
  NO_QUANTITY,
  price,
  quantity,
  quantityDown,
  roundDown,
  roundUp,
  subtract,
  worsen,
} from '../core/money.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import { borrowed } from '../core/pts.ts';
import { leftOf, sizeSlice } from '../core/sizing.ts';
import type { Instrument } from '../core/instrument.ts';
import type { Side, Size } from '../core/venue.ts';
import type { Desk } from './desk.ts';
import type { OpenSlice } from './desk-state.ts';
import { stopped } from './item.ts';
import type { Sized, Stopped } from './item.ts';

/** How much below the venue's maximum a piece stays: its USD rate is not ours. */
const MAXIMUM_SHARE = '0.98';

/** Cuts each slice to what may be asked for now. Waits for a reference price: without one nothing trades. */
export function size(desk: Desk, drain$: Observable<unknown>): OperatorFunction<OpenSlice, Sized | Stopped> {
  return mergeMap((slice) =>
    desk.references.ready([slice.intent.pair]).pipe(
      takeUntil(drain$),
      map(() => sizeNow(desk, slice)),
    ),
  );
}

/** What is left of a slice, in the unit of its intent. */
export const leftOfSlice = ({ intent, filled, filledAmount }: OpenSlice): Size =>
  leftOf(
    intent.by === 'quantity'
      ? { by: 'quantity', quantity: quantity(intent.size) }
      : { by: 'amount', amount: money(intent.size) },
    filled,
    filledAmount,
  );

function sizeNow(desk: Desk, slice: OpenSlice): Sized | Stopped {
  const { pair, side, limit } = slice.intent;
  const reference = desk.references.get(pair);
  if (reference === undefined) return stopped(slice, 'no_reference', pair, { do: 'again' });
  const instrument = desk.instrument(pair);
  const [availableBase, availableQuote] = [desk.available(instrument.base), desk.available(instrument.quote)];
  if (availableBase === undefined || availableQuote === undefined)
    return stopped(slice, 'no_balances', '', { do: 'again' });

  const collar = worsen(side, reference.mid, desk.policy.limits.collarBps);
  const worst = tighter(side, worstPrice(side, collar, limit === undefined ? undefined : price(limit)));
  const pays = side === 'buy' ? instrument.quote : instrument.base;
  const sized = sizeSlice({
    instrument,
    side,
    wanted: leftOfSlice(slice),
    worst,
    mid: reference.mid,
    availableBase,
    availableQuote,
    maximum: maximumOf(desk, instrument),
    pts: {
      use: desk.policy.pts.use,
      mode: desk.pts.mode(pair),
      creditLeft: creditLeft(desk, pays),
      carryBps: desk.pts.carryBps(pays),
      carryBpsMax: desk.policy.pts.carryBpsMax,
    },
  });
  if ('reason' in sized) return stopped(slice, sized.reason, sized.note, { do: 'stop' });
  const base =
    sized.size.by === 'quantity'
      ? sized.size.quantity
      : quantityDown(sized.size.amount, reference.mid, instrument.basePrecision);
  return {
    stage: 'sized',
    slice,
    instrument,
    reference,
    size: sized.size,
    quantity: base,
    worst,
    notional: worstNotional(desk, instrument, sized.size, greatest(worst, reference.mid)),
    cuts: sized.cuts,
    isPiece: sized.isPiece,
  };
}

/** A worst price of at most twelve decimals, rounded towards the market: never worse than the limit it stands for. */
const tighter = (side: Side, worst: Price): Price =>
  side === 'buy' ? roundDown(worst, 12) : roundUp(worst, 12);

/** The order at its dearest, in the currency of the limits. */
function worstNotional(desk: Desk, { quote }: Instrument, what: Size, dearest: Price): Money | undefined {
  const amount = what.by === 'amount' ? what.amount : cost(dearest, what.quantity);
  const worth = desk.convert(quote, quantity(amount.toFixed()), desk.policy.limits.currency);
  return worth === undefined ? undefined : roundUp(worth, 8);
}

/** The largest piece in quote currency. The venue counts its maximum in USD. */
function maximumOf(desk: Desk, { pair, quote }: Instrument): Money | undefined {
  const usd = desk.state.maximums.get(pair);
  if (usd === undefined) return undefined;
  const allowed = money(usd.times(MAXIMUM_SHARE).toFixed());
  if (quote === 'usd') return allowed;
  const rate = desk.convert(quote, quantity('1'), 'usd');
  return rate === undefined ? undefined : money(allowed.div(rate).toFixed(18));
}

/** What may still be borrowed of `currency` under `pts.max_credit`; `undefined` without a cap. Nothing when it cannot be valued. */
function creditLeft(desk: Desk, currency: string): Quantity | undefined {
  const cap = desk.policy.pts.creditMax;
  if (cap === undefined) return undefined;
  const used = borrowed(desk.state.balances ?? new Map(), (symbol, amount) =>
    desk.convert(symbol, amount, cap.currency),
  );
  const rate = desk.convert(currency, quantity('1'), cap.currency);
  if (used === undefined || rate === undefined || rate.isZero()) return NO_QUANTITY;
  const left = greatest(subtract(cap.amount, used), NO_MONEY);
  return quantity(left.div(rate).toFixed(18));
}
