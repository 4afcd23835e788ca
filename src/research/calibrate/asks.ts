import { corrected } from '../../core/cycle/corrected-fill.ts';
import { approximate, fraction, money, scale } from '../../core/money.ts';
import type { Ratio } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import type {
  FillRecord,
  IntentRecord,
  MaximumRecord,
  QuoteRecord,
  StoredRecord,
} from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';

/** One quote request of a desk, and its outcome. */
export interface Ask {
  readonly intent: IntentRecord;
  readonly at: Instant;
  /**
   * Whether it is the first request of its slice. The time of the first request was planned, and is therefore
   * independent of the venue's state.
   */
  readonly isFirst: boolean;
  /** Whether the mode is `dry_run`, in which the desk itself simulates orders. */
  readonly isDry: boolean;
  /** The record of the quote, written when its order was sent. */
  quote?: { readonly at: Instant; readonly body: QuoteRecord };
  /** The first information about its outcome, and when; a doubt does not show the duration of an order. */
  end?: { readonly at: Instant; readonly result: AskResult; readonly reason: Reason | undefined };
  /** How it ended according to the account. */
  result?: AskResult;
  reason?: Reason | undefined;
  fill?: FillRecord;
}

type AskResult = 'discarded' | 'doubt' | 'rejected' | 'absent' | 'filled';

/** Quotes and orders of a journal, as input of the calibration. */
export interface Asked {
  readonly asks: readonly Ask[];
  /** Maximums that the venue stated. */
  readonly maxima: readonly { readonly at: Instant; readonly body: MaximumRecord }[];
  /** USD per unit of a quote currency, as of its last fill; used to value quotes that were not filled. */
  readonly rates: ReadonlyMap<string, Ratio>;
  readonly modes: readonly string[];
  readonly records: number;
  readonly first: Instant | undefined;
  readonly last: Instant | undefined;
  readonly head: string | undefined;
}

export interface AskedWindow {
  readonly since?: Instant | undefined;
  readonly until?: Instant | undefined;
}

/** Reads the records once, oldest first. Keeps only the quote requests in the window. */
export function askedOf(records: Iterable<StoredRecord>, { since, until }: AskedWindow = {}): Asked {
  const asks = new Map<string, Ask>();
  const maxima: { readonly at: Instant; readonly body: MaximumRecord }[] = [];
  const rates = new Map<string, Ratio>();
  const modes = new Set<string>();
  const slices = new Set<string>();
  let [mode, count] = ['', 0];
  let [first, last, head]: [Instant | undefined, Instant | undefined, string | undefined] = [undefined, undefined, undefined]; // prettier-ignore
  const isIn = (at: Instant): boolean => (since === undefined || at >= since) && (until === undefined || at < until); // prettier-ignore
  for (const { at, body, hash } of records) {
    count++;
    [first, last, head] = [first ?? at, at, hash];
    if (body.kind === 'started') mode = body.mode;
    if (body.kind === 'intent') {
      const slice = `${body.parent}\n${body.slice}`;
      const isFirst = !slices.has(slice);
      slices.add(slice);
      if (!isIn(at)) continue;
      modes.add(mode);
      asks.set(body.client_order_id, { intent: body, at, isFirst, isDry: mode === 'dry_run' });
    } else if (body.kind === 'maximum' && body.why === undefined && isIn(at)) maxima.push({ at, body });
    else if (body.kind === 'fill') {
      const amount = money(body.amount);
      if (amount.gt(0) && money(body.notional_usd).gt(0))
        rates.set(body.quote, fraction(money(body.notional_usd), amount));
      note(asks.get(body.client_order_id), at, body);
    } else if (body.kind === 'quote' || body.kind === 'attempt' || body.kind === 'correction')
      note(asks.get(body.client_order_id), at, body);
  }
  return { asks: [...asks.values()], maxima, rates, modes: [...modes], records: count, first, last, head };
}

function note(ask: Ask | undefined, at: Instant, body: StoredRecord['body']): void {
  if (ask === undefined) return;
  if (body.kind === 'quote') ask.quote = { at, body };
  if (body.kind === 'fill') ask.fill = body;
  // The account's figures replace those of the response, mainly because of fees.
  if (body.kind === 'correction' && ask.fill !== undefined) ask.fill = corrected(ask.fill, body);
  if (body.kind !== 'attempt') return;
  ask.end ??= { at, result: body.result, reason: body.reason };
  ask.result = body.result;
  ask.reason = body.reason;
}

/** Returns the value of an amount of a quote currency in USD; `undefined` if no fill determines a rate. */
export function usdOf({ rates }: Asked, quote: string, amount: string): number | undefined {
  if (quote === 'usd') return approximate(money(amount));
  const rate = rates.get(quote);
  return rate === undefined ? undefined : approximate(scale(money(amount), rate));
}
