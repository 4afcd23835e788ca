import type { Phase } from '../../core/cycle/cycle.ts';
import type { Instrument } from '../../core/instrument.ts';
import {
  cost,
  fraction,
  least,
  money,
  price,
  quantity,
  ratio,
  roundDown,
  scale,
  significant,
  text,
} from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import type { FillRecord, IntentRecord, RecordBody } from '../../core/record.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { Desk } from '../desk.ts';

/** How far a piece stays below the venue's maximum, because the venue's USD rate differs from ours. */
const SHARE = ratio('0.98');
/** Time after which the whole size is requested again, because a maximum from a stressed minute must not cut slices forever. */
const AGE_MS = HOUR_MS;
/**
 * Time after which a maximum that leaves only tiny pieces of a slice is tested again, because it may come from an
 * invalid response.
 */
export const CRUMBS_AGE_MS = MINUTE_MS;
/** Shortest time before a new maximum is tested again. */
const HELD_MS = 15 * MINUTE_MS;
const RAISE = ratio('1.5');

/**
 * The largest piece in quote currency, if reported within `ageMs`. The venue states its maximum in USD. It is converted
 * at our rate and at the venue's own, and the smaller result counts.
 */
export function maximumOf(desk: Desk, { pair, quote }: Instrument, ageMs = AGE_MS): Money | undefined {
  const known = desk.state.maximums.get(pair);
  if (known === undefined || desk.ports.clock.wall() - known.at > ageMs) return undefined;
  const allowed = scale(known.usd, SHARE);
  if (quote === 'usd') return allowed;
  const rates = [desk.rates.convert(quote, quantity('1'), 'usd'), known.quoteUsd];
  const [first, ...more] = rates.flatMap((rate) =>
    rate?.gt(0) === true ? [money(allowed.div(rate).toFixed(18))] : [],
  );
  return first === undefined ? undefined : least(first, ...more);
}

/** The venue's maximum for the pair, if it stated one. */
export const statedMaximum = (
  { pair, quote, by, size, reference_price: reference }: IntentRecord,
  { next }: Phase & { readonly state: 'ended' },
): readonly RecordBody[] =>
  next.do === 'smaller'
    ? [
        maximumRecord({
          pair,
          quote,
          stated: next,
          amount: by === 'amount' ? money(size) : cost(price(reference), quantity(size)),
        }),
      ]
    : [];

interface StatedMaximum {
  readonly pair: string;
  readonly quote: string;
  /** Both in USD. */
  readonly stated: { readonly usdMax: string; readonly usdAsked: string };
  /** Requested size in quote currency; `undefined` without a price. */
  readonly amount: Money | undefined;
}

/** A maximum that the venue stated. Its value of the request implies its rate of the quote currency. */
export function maximumRecord({ pair, quote, stated, amount }: StatedMaximum): RecordBody {
  const record = { kind: 'maximum', pair, usd: text(money(stated.usdMax)) } as const;
  if (quote === 'usd' || amount?.gt(0) !== true) return record;
  return { ...record, quote_usd: text(significant(fraction(money(stated.usdAsked), amount), RATE_DIGITS)) };
}
const RATE_DIGITS = 12;

/**
 * Updates the known maximum of a pair from a fill. A fill that was cut to the maximum raises it by half once the
 * maximum is old enough. If that is too much, the venue refuses, which costs only a quote. A fill above the maximum
 * disproves the maximum and replaces it.
 */
export function raisedMaximum(
  desk: Desk,
  { pair, quote, amount }: FillRecord,
  { cuts }: IntentRecord,
): readonly RecordBody[] {
  const known = desk.state.maximums.get(pair);
  const now = desk.ports.clock.wall();
  if (known === undefined || now - known.at > AGE_MS) return [];
  const { quoteUsd } = known;
  const worth =
    desk.rates.convert(quote, quantity(amount), 'usd') ?? (quoteUsd && cost(quoteUsd, quantity(amount)));
  if (worth === undefined) return [];
  const stated = quoteUsd === undefined ? {} : { quote_usd: text(quoteUsd) };
  const raised = (usd: Money): readonly RecordBody[] => [
    { kind: 'maximum', pair, usd: text(roundDown(usd, 2)), ...stated, why: 'raised' },
  ];
  if (worth.gt(known.usd)) return raised(scale(worth, RAISE));
  const isHeld = known.why === 'told' && now - known.at < HELD_MS;
  return cuts.includes('venue_maximum') && !isHeld ? raised(scale(known.usd, RAISE)) : [];
}
