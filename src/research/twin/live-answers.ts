import { parseClientId } from '../../core/ids.ts';
import {
  cost,
  money,
  price,
  quantity,
  roundEven,
  scale,
  slippageBps,
  worsen,
  ratio,
  decimalsOf,
} from '../../core/money.ts';
import type { Money, Price } from '../../core/money.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { QuoteRequest } from '../../core/venue.ts';
import type { Ask } from '../calibrate/asks.ts';
import { sliceKey } from './outcomes.ts';
import type { Recorded } from './recorded.ts';

/** Why live has no response for a candidate's quote request. */
export type Unasked = 'pair_and_side' | 'time' | 'size';

/** Longest time between a candidate's request and a quote that it may use, which live received for the same pair and side. */
const NEAR_MS = 5 * MINUTE_MS;
/** Tolerance of sizes. The size that live requested, multiplied by this, must be at least the candidate's size. */
const SIZE_TOLERANCE = ratio('1.1');

/** Reasons why live got no quote. */
const NOT_QUOTED: ReadonlySet<string> = new Set(['quotes_unavailable', 'venue_failed', 'retry_budget']);

/**
 * The venue's responses to live, for the attempts of a twin: the response to the same attempt or, for a candidate, to
 * the nearest attempt.
 */
export class LiveAnswers {
  readonly #recorded: Recorded;
  /** By pair and side, oldest first; empty if only the same attempt counts. */
  readonly #near: ReadonlyMap<string, readonly Ask[]>;
  /** The nearest response, by the candidate's client id. */
  readonly #found = new Map<string, Ask>();
  /** Requests for which live has no response, by client id. */
  readonly unasked = new Map<string, Unasked>();

  constructor(recorded: Recorded, { isCandidate }: { readonly isCandidate: boolean }) {
    this.#recorded = recorded;
    this.#near = isCandidate
      ? Map.groupBy(recorded.asks.values(), ({ intent }) => `${intent.pair} ${intent.side}`)
      : new Map();
  }

  /** Returns the response to an attempt that has requested its quote. */
  of(clientId: string | undefined): Ask | undefined {
    if (clientId === undefined) return undefined;
    return this.#recorded.asks.get(clientId) ?? this.#found.get(clientId);
  }

  /** Finds the nearest response for an attempt that live did not make. Call it before requesting the quote. */
  ask({ clientId, pair, side, size }: QuoteRequest, mid: Price | undefined, now: Instant): void {
    if (clientId === undefined || this.#near.size === 0 || this.of(clientId) !== undefined) return;
    const same = this.#near.get(`${pair} ${side}`) ?? [];
    const timely = same.filter(({ at }) => Math.abs(at - now) <= NEAR_MS);
    const wanted =
      size.by === 'amount' ? size.amount : mid === undefined ? undefined : cost(mid, size.quantity);
    const [nearest] = timely
      .filter((ask) => wanted === undefined || scale(largestOf(ask), SIZE_TOLERANCE).gte(wanted))
      .toSorted((a, b) => Math.abs(a.at - now) - Math.abs(b.at - now));
    if (nearest === undefined)
      this.unasked.set(clientId, same.length === 0 ? 'pair_and_side' : timely.length === 0 ? 'time' : 'size');
    else this.#found.set(clientId, nearest);
  }

  /** Returns the price of the attempt's own quote, or the price of the nearest quote at the same distance from the current price. */
  price(clientId: string, mid: Price): Price | undefined {
    const own = this.#recorded.asks.get(clientId)?.quote?.body.price;
    if (own !== undefined) return price(own);
    const nearest = this.#found.get(clientId);
    if (nearest?.quote === undefined) return undefined;
    const { intent } = nearest;
    const quoted = price(nearest.quote.body.price);
    const bps = slippageBps(intent.side, quoted, price(intent.reference_price));
    return roundEven(worsen(intent.side, mid, bps), decimalsOf(quoted));
  }

  /** Whether live got no quote for this attempt, or gave up its slice for lack of quotes. */
  isUnquoted(clientId: string): boolean {
    const ask = this.of(clientId);
    if (ask !== undefined)
      return (
        ask.quote === undefined && ask.end?.result === 'discarded' && NOT_QUOTED.has(ask.end.reason ?? '')
      );
    const named = parseClientId(clientId);
    const slice = named === undefined ? undefined : this.#recorded.slices.get(sliceKey(named));
    return slice !== undefined && slice.result !== 'filled' && NOT_QUOTED.has(slice.reason ?? '');
  }
}

/** Returns the size that live requested, in quote currency. */
const largestOf = ({ intent, quote }: Ask): Money =>
  quote === undefined
    ? intent.by === 'amount'
      ? money(intent.size)
      : cost(price(intent.reference_price), quantity(intent.size))
    : money(quote.body.amount);
