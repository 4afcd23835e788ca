import { distinctUntilChanged, map, mergeMap, of, takeUntil } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { deskRefusal, worstPrice } from '../../core/risk/controls.ts';
import {
  add,
  cost,
  greatest,
  holding,
  money,
  price,
  quantity,
  roundDown,
  roundUp,
  subtract,
  worsen,
} from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import { sizeForPts } from '../../core/risk/pts.ts';
import { leftOf, reducing, sizeSlice } from '../../core/risk/sizing.ts';
import type { SizingQuestion } from '../../core/risk/sizing.ts';
import { tacticalLimit } from '../../core/risk/tactics.ts';
import type { Instrument } from '../../core/instrument.ts';
import type { Side, Size } from '../../core/venue.ts';
import { nextAfter } from './control.ts';
import type { Desk } from '../desk.ts';
import type { OpenSlice } from '../state/engine-state.ts';
import { stopped } from '../stage-types.ts';
import type { Sized, Stopped } from '../stage-types.ts';
import { mergeMapMaybe } from '../maybe-async.ts';
import { creditLeft } from '../market/headroom.ts';
import { CRUMBS_AGE_MS, maximumOf } from '../attempt/learnt-maximum.ts';
import { orderMaxOf } from '../attempt/order-max-of.ts';
import { keepOf, knownPrices, pieceOf } from '../attempt/tactics.ts';
import { watch } from '../watch.ts';

/** Cuts each slice to what may be requested now. Waits for a reference price, because nothing trades without one. */
export function size(desk: Desk, drain$: Observable<unknown>): OperatorFunction<OpenSlice, Sized | Stopped> {
  return mergeMapMaybe((slice) => {
    const { pair } = slice.intent;
    const refused = deskRefusal(desk);
    // A desk that may not trade does not request prices either.
    if (refused !== undefined)
      return stopped(slice, refused.reason, refused.detail, nextAfter(desk, refused));
    const pairs = pricedPairs(desk, pair);
    const known = desk.references.hasAll(pairs) ? sizeNow(desk, slice) : undefined;
    if (known !== undefined && !awaitsTerms(known)) return known;
    const sized =
      known === undefined ? desk.references.ready(pairs).pipe(map(() => sizeNow(desk, slice))) : of(known);
    return sized.pipe(
      mergeMap((item) => (awaitsTerms(item) ? sizeOnTerms(desk, slice) : of(item))),
      takeUntil(drain$),
    );
  });
}

/** Whether the slice would be cut only because no risk modes have been read since the start. */
const awaitsTerms = (item: Sized | Stopped): boolean =>
  item.stage === 'stopped' && item.reason === 'pts_unknown';

/** Sizes the slice once the credit terms have been read, or after half of its remaining time. */
function sizeOnTerms(desk: Desk, slice: OpenSlice): Observable<Sized | Stopped> {
  const { clock } = desk.ports;
  const mostMs = Math.max(0, (slice.intent.deadline - clock.wall()) / 2);
  const pending$ = watch(desk.changed$, () => desk.pts.isPending()).pipe(distinctUntilChanged());
  return desk.pts.known(slice, { mostMs, pending$ }).pipe(map(() => sizeNow(desk, slice, { isFinal: true })));
}

/** The pair, and the pairs that convert its quote currency into the currency of the limits, and for credit into usd. */
const pricedPairs = (desk: Desk, pair: string): readonly string[] => [
  pair,
  ...[desk.policy.limits.currency, ...(desk.policy.pts.use === 'never' ? [] : ['usd'])].flatMap(
    (into) => desk.rates.pairs(desk.instruments.of(pair).quote, into) ?? [],
  ),
];

/**
 * The remainder of a slice, in the unit of its intent. Missing parts of fills do not count as remainder, because they
 * may have traded.
 */
export const leftOfSlice = ({
  intent,
  filled,
  filledAmount,
  missing,
  missingAmount,
}: Pick<OpenSlice, 'intent' | 'filled' | 'filledAmount' | 'missing' | 'missingAmount'>): Size =>
  leftOf(
    intent.by === 'quantity'
      ? { by: 'quantity', quantity: quantity(intent.size) }
      : { by: 'amount', amount: money(intent.size) },
    add(filled, missing),
    add(filledAmount, missingAmount),
  );

/** Sizes a slice with current data. */
export function sizeNow(
  desk: Desk,
  slice: OpenSlice,
  { isFinal = false }: { readonly isFinal?: boolean } = {},
): Sized | Stopped {
  const { pair, side, limit, tactics } = slice.intent;
  const reference = desk.references.get(pair);
  if (reference === undefined) return stopped(slice, 'no_reference', pair, { do: 'again' });
  const instrument = desk.instruments.of(pair);
  const availableBase = desk.state.available(instrument.base);
  const availableQuote = desk.state.available(instrument.quote);
  if (availableBase === undefined || availableQuote === undefined)
    return stopped(slice, 'no_balances', '', { do: 'again' });

  const collar = worsen(side, reference.mid, desk.policy.limits.collarBps);
  const own = limit === undefined ? undefined : price(limit);
  const allowed =
    tactics === undefined
      ? own
      : tacticalLimit(side, own, { tactics, known: knownPrices(desk, slice.intent, reference.mid) });
  const worst = tighter(side, worstPrice(side, collar, allowed));
  const pays = side === 'buy' ? instrument.quote : instrument.base;
  const question: SizingQuestion = {
    instrument,
    side,
    wanted: leftOfSlice(slice),
    worst,
    mid: reference.mid,
    availableBase,
    availableQuote,
    maximum: maximumOf(desk, instrument),
    piece: pieceOf(desk, slice, reference.mid),
    filledOrders: slice.filledOrders,
    orderMax:
      tactics?.split === true ? orderMaxOf(desk, instrument, greatest(worst, reference.mid)) : undefined,
    keep: keepOf(desk, slice.intent, pays),
    floor: desk.policy.limits.positionMin?.get(pays),
    ownMinimum: tactics?.min_notional === undefined ? undefined : money(tactics.min_notional),
    pts: creditOf(desk, pair, pays),
  };
  const sized = sizeWithin(desk, question);
  if (!isFinal && sized.cuts?.includes('pts_unknown') === true && desk.pts.isPending())
    return stopped(slice, 'pts_unknown', 'the risk modes were not read yet', { do: 'again' });
  if ('reason' in sized) return stopped(slice, sized.reason, sized.note, nextAfter(desk, sized));
  return {
    stage: 'sized',
    slice,
    instrument,
    reference,
    size: sized.size,
    quantity: sized.quantity,
    worst,
    notional: worstNotional(desk, instrument, sized.size, greatest(worst, reference.mid)),
    cuts: sized.cuts,
    notes: sized.notes,
  };
}

/**
 * A maximum that leaves much of a slice untraded may come from an invalid response, so the whole size is requested again:
 * at once, unless the venue stated that maximum twice, and after a minute if no piece can be traded.
 */
function sizeWithin(desk: Desk, question: SizingQuestion): ReturnType<typeof sizeSlice> {
  const sized = sizeSlice(question);
  const { instrument } = question;
  const isOdd =
    'reason' in sized
      ? sized.reason === 'venue_maximum' &&
        sized.isFinal !== true &&
        maximumOf(desk, instrument, CRUMBS_AGE_MS) === undefined
      : sized.isShort && desk.state.maximums.get(instrument.pair)?.isRepeated === false;
  return isOdd ? sizeSlice({ ...question, maximum: undefined }) : sized;
}

/**
 * A worst price with at most twelve decimals, rounded towards the market so that it is never worse than the limit that
 * it represents.
 */
const tighter = (side: Side, worst: Price): Price =>
  side === 'buy' ? roundDown(worst, 12) : roundUp(worst, 12);

/** The order's value at its dearest price, in the currency of the limits. */
function worstNotional(desk: Desk, { quote }: Instrument, what: Size, dearest: Price): Money | undefined {
  const amount = what.by === 'amount' ? what.amount : cost(dearest, what.quantity);
  const worth = desk.rates.convert(quote, holding(amount), desk.policy.limits.currency);
  return worth === undefined ? undefined : roundUp(worth, 8);
}

/** If no credit is used, the credit terms do not matter. */
const NEVER: SizingQuestion['pts'] = {
  use: 'never',
  mode: undefined,
  creditLeft: undefined,
  carryBps: undefined,
  carryBpsMax: undefined,
};

/** The credit data in the currency `pays`, for an order of the pair. `except` names an attempt that does not count. */
function creditOf(desk: Desk, pair: string, pays: string, except?: string): SizingQuestion['pts'] {
  const { use } = desk.policy.pts;
  if (use === 'never') return NEVER;
  return {
    use,
    mode: desk.pts.mode(pair),
    creditLeft: creditLeft(desk, pays, except),
    carryBps: desk.pts.carryBps(pays),
    carryBpsMax: desk.policy.pts.carryBpsMax,
  };
}

export interface Payment {
  readonly instrument: Instrument;
  readonly side: Side;
  /** In the currency that the order pays with. */
  readonly needs: Quantity;
  readonly worst: Price;
  /** The attempt being checked. Its own reservation does not count against it. */
  readonly clientId: string;
  /** Minimum balance of the currency that the order pays with; zero means that nothing is bought on credit. */
  readonly keep?: Quantity | undefined;
}

/** Whether the account can pay now, including credit within mode, cap and carry, counting all orders in flight. */
export function canPay(desk: Desk, { instrument, side, needs, worst, clientId, keep }: Payment): boolean {
  const { pair, base, quote } = instrument;
  const pays = side === 'buy' ? quote : base;
  const available = desk.state.available(pays, clientId);
  if (available === undefined) return false;
  if (keep !== undefined && subtract(available, needs).lt(keep)) return false;
  // The common case: own funds pay for the whole order.
  if (available.gte(needs)) return true;
  const availableBase = side === 'buy' ? desk.state.available(base, clientId) : available;
  if (availableBase === undefined) return false;
  const answer = sizeForPts({
    ...creditOf(desk, pair, pays, clientId),
    side,
    pays,
    outgoing: needs,
    available,
    reducing: reducing({ side, availableBase, worst }),
  });
  return answer.allowed.gte(needs);
}
