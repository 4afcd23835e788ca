import { countWords } from '../core/approvals/approval-settings.ts';
import { reasons } from '../core/reasons.ts';
import { changeWords } from '../core/risk/limit-changes.ts';
import type { Reason } from '../core/reasons.ts';
import type {
  ApprovalRecord,
  AttemptRecord,
  CorrectionRecord,
  FillRecord,
  IntentText,
  SliceRecord,
  StoredRecord,
  WakeRecord,
} from '../core/record.ts';
import { MINUTE_MS, instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { corrected } from '../core/cycle/corrected-fill.ts';
import { untradedBy } from '../core/cycle/untraded.ts';
import { feesWords, othersWords, verdictWords } from '../core/text/account-words.ts';

/** The outcome of one slice, of one wake, or of the desk as a whole. Plain data, amounts as text: `--json` prints it. */
export interface WhyEntry {
  readonly at: Instant;
  /** Omitted for events of the desk. */
  readonly strategy?: string | undefined;
  /**
   * `traded`: a slice ended with a fill. `not_traded`: a slice ended without one, slices passed without an attempt, or an
   * evaluation had no result. `noted`: less or later than planned. `begun`, `ended`: of a strategy. `open`: a slice in
   * progress. `desk`: it started, stopped, or its state changed.
   */
  readonly event: 'traded' | 'not_traded' | 'noted' | 'begun' | 'ended' | 'open' | 'desk';
  readonly leg?: string | undefined;
  /** Affected slices, from 0; omitted if there are none. */
  readonly slices?: readonly number[] | undefined;
  readonly pair?: string | undefined;
  readonly side?: 'buy' | 'sell' | undefined;
  /** The wanted size, with its currency. */
  readonly wanted?: string | undefined;
  /** The traded quantity in base currency and its amount in quote currency, each with its currency. */
  readonly filled?: string | undefined;
  readonly amount?: string | undefined;
  /** Quote requests of this slice. */
  readonly attempts?: number | undefined;
  readonly reason?: Reason | undefined;
  /** The figures behind the reason. */
  readonly figures?: string | undefined;
  /** When the strategy wakes next, if it waits for a time. */
  readonly next?: Instant | undefined;
  /** The whole entry in words, without time and strategy. */
  readonly says: string;
}

export interface WhyOptions {
  /** Base and quote of a pair without an order. */
  currencies(pair: string): { readonly base: string; readonly quote: string } | undefined;
  /** Formats an amount in `says`; default: unchanged. */
  readonly shown?: ((amount: string) => string) | undefined;
}

/** A slice that was decided and has not ended. */
interface Open {
  readonly strategy: string;
  readonly at: Instant;
  readonly intent: IntentText;
  attempts: number;
  /** Result of its newest attempt. */
  last: Pick<AttemptRecord, 'result' | 'reason' | 'detail'> | undefined;
}

/**
 * Determines from a journal's records, oldest first, why each slice did or did not trade. Yields one entry for each
 * slice when it ends, one for each wake without a slice, and at the end the slices in progress.
 */
export function* whyOf(records: Iterable<StoredRecord>, options: WhyOptions): Generator<WhyEntry> {
  const slices = new Map<string, Open>();
  const attempts = new Map<string, Open>();
  const pairs = new Map<string, { readonly base: string; readonly quote: string }>();
  const { shown = (amount: string) => amount } = options;
  const of: Speaker = {
    shown,
    base: (pair) => (pairs.get(pair) ?? options.currencies(pair))?.base ?? `of ${pair}`,
    quote: (pair) =>
      (pairs.get(pair) ?? options.currencies(pair))?.quote ?? `in the quote currency of ${pair}`,
  };
  const booking = new Booking(shown);
  let newest = instant(0);
  for (const { at, body } of records) {
    newest = at;
    switch (body.kind) {
      case 'started':
        yield { at, event: 'desk', says: `tranche ${body.version} started in mode ${body.mode}` };
        break;
      case 'stopped':
        yield { at, event: 'desk', says: `stopped: ${body.why}` };
        break;
      case 'process':
        if (body.state !== 'running')
          yield { at, event: 'desk', says: `${body.state}: ${body.why ?? 'unknown error'}` };
        break;
      case 'control': {
        const ofStrategy = body.strategy === undefined ? 'the desk' : `strategy ${body.strategy}`;
        const scope = body.parent === undefined ? (body.pair ?? ofStrategy) : `parent ${body.parent}`;
        yield {
          at,
          event: 'desk',
          pair: body.pair,
          says: `${scope} ${body.state} by ${body.by}: ${body.why}`,
        };
        break;
      }
      case 'reload':
        for (const change of body.limit_changes ?? [])
          yield { at, event: 'desk', says: `reload by ${body.by}: ${changeWords(change)}` };
        for (const { strategy, what, why } of body.changes) {
          const cause = why === undefined ? '' : `: ${why}`;
          yield {
            at,
            strategy,
            event: 'desk',
            says: `reload by ${body.by}: ${what.replace('_', ' ')}${cause}`,
          };
        }
        break;
      case 'approval':
        if (body.strategy !== undefined) yield requestEntry(at, body);
        break;
      case 'strategy':
        yield { at, strategy: body.strategy, event: 'begun', says: `begins as ${body.type}` };
        break;
      case 'wake':
        for (const intent of body.intents) {
          const open: Open = { strategy: body.strategy, at, intent, attempts: 0, last: undefined };
          slices.set(keyOf(intent), open);
        }
        yield* wakeEntries(at, body, of);
        break;
      case 'intent': {
        pairs.set(body.pair, body);
        const open = slices.get(keyOf(body));
        if (open === undefined) break;
        open.attempts++;
        attempts.set(body.client_order_id, open);
        break;
      }
      case 'attempt': {
        const open = attempts.get(body.client_order_id);
        if (open !== undefined) open.last = body;
        if (body.result !== 'doubt') attempts.delete(body.client_order_id);
        break;
      }
      case 'slice': {
        yield sliceTold(at, body, { open: slices.get(keyOf(body)), of });
        slices.delete(keyOf(body));
        break;
      }
      case 'fill':
        booking.booked(at, body);
        pairs.set(body.pair, body);
        if (!slices.has(keyOf(body))) yield strayEntry(at, body, of);
        if (body.missing !== undefined) yield* missingTold(at, body, { fill: body, of });
        break;
      case 'quote':
      case 'balances':
      case 'maximum':
      case 'alert':
      case 'person':
      case 'settings':
        break;
      case 'resolved':
        if (body.rows !== undefined) {
          const about = aboutAttempt(attempts.get(body.client_order_id));
          yield { at, ...about, event: 'noted', says: `${verdictWords(body)}, says ${body.by}: ${body.why}` };
        }
        break;
      case 'correction':
        booking.shown([body.client_order_id]);
        yield* correctionTold(at, body, { fill: booking.fillOf(body.client_order_id), of });
        booking.correct(body);
        break;
      case 'shown': {
        booking.shown(Object.keys(body.fills));
        const says = othersWords(body);
        if (says !== undefined) yield { at, event: 'desk', says };
      }
    }
  }
  for (const open of slices.values()) yield openEntry(open, of);
  yield* booking.open(newest);
}

/** A request that the strategy waits for, with its requester, approvers and end. */
function requestEntry(at: Instant, { request, step, by, asks, count, strategy }: ApprovalRecord): WhyEntry {
  const says =
    step === 'proposed'
      ? `waits for approval ${request} (${countWords(count)}): ${asks}`
      : `${request} ${step} by ${by}`;
  return { at, strategy, event: 'desk', says };
}

/** Fills that the account has not shown, according to the records. */
class Booking {
  readonly #fills = new Map<string, { readonly at: Instant; readonly fill: FillRecord }>();
  readonly #waiting = new Set<string>();
  readonly #shown: Speaker['shown'];
  #isShowing = false;

  constructor(shown: Speaker['shown']) {
    this.#shown = shown;
  }

  booked(at: Instant, fill: FillRecord): void {
    this.#fills.set(fill.client_order_id, { at, fill });
    const [oldest] = this.#fills.keys();
    if (this.#fills.size > FILLS_MAX && oldest !== undefined) {
      this.#fills.delete(oldest);
      this.#waiting.delete(oldest);
    }
    if (fill.rows === undefined && fill.source !== 'transactions' && fill.source !== 'dry_run')
      this.#waiting.add(fill.client_order_id);
  }

  shown(ids: readonly string[]): void {
    this.#isShowing = true;
    for (const id of ids) this.#waiting.delete(id);
  }

  fillOf(id: string): FillRecord | undefined {
    return this.#fills.get(id)?.fill;
  }

  correct(body: CorrectionRecord): void {
    const one = this.#fills.get(body.client_order_id);
    if (one !== undefined) this.#fills.set(body.client_order_id, { ...one, fill: corrected(one.fill, body) });
  }

  /** Fills of the last minutes; none for a desk whose account was never compared. */
  *open(now: Instant): Generator<WhyEntry> {
    if (!this.#isShowing) return;
    for (const id of this.#waiting) {
      const one = this.#fills.get(id);
      if (one === undefined || one.at < now - BOOKING_MS) continue;
      const { strategy, slice, pair, side, quantity, base } = one.fill;
      const about = { strategy, slices: [slice], pair, side };
      const says = `${this.#shown(quantity)} ${base} of ${id} is still being booked: the account has not shown all of it`;
      yield { at: one.at, ...about, event: 'noted', says };
    }
  }
}

const FILLS_MAX = 10_000;
const BOOKING_MS = 10 * MINUTE_MS;

const aboutAttempt = (open: Open | undefined): Pick<WhyEntry, 'strategy' | 'slices' | 'pair' | 'side'> =>
  open === undefined
    ? {}
    : {
        strategy: open.strategy,
        slices: [open.intent.slice],
        pair: open.intent.pair,
        side: open.intent.side,
      };

/** Reports what the account shows of a fill: rows that changed, fees in other currencies, a part that is missing. */
function* correctionTold(
  at: Instant,
  body: CorrectionRecord,
  told: { readonly fill: FillRecord | undefined; readonly of: Speaker },
): Generator<WhyEntry> {
  const { client_order_id: id, changes = [], other_fees: others } = body;
  const { fill, of } = told;
  const isPaidElsewhere = JSON.stringify(others ?? {}) !== JSON.stringify(fill?.other_fees ?? {});
  if (changes.length > 0 || isPaidElsewhere) {
    const { strategy, slice, pair, side, quote } = fill ?? {};
    const fees = feesWords(body, { currency: quote ?? '', shown: of.shown });
    const says = [`the account shows ${id} with fees of ${fees}`, ...changes].join('; ');
    yield {
      at,
      strategy,
      event: 'noted',
      slices: slice === undefined ? undefined : [slice],
      pair,
      side,
      says,
    };
  }
  yield* missingTold(at, body, told);
}

/** Reports that the account lacks part of an order, or no longer lacks it. */
function* missingTold(
  at: Instant,
  {
    client_order_id: id,
    quantity,
    missing,
  }: Pick<CorrectionRecord, 'client_order_id' | 'quantity' | 'missing'>,
  { fill, of }: { readonly fill: FillRecord | undefined; readonly of: Speaker },
): Generator<WhyEntry> {
  if (fill === undefined || (missing === undefined && fill.missing === undefined)) return;
  const { strategy, slice, pair, side, base } = fill;
  const lacks =
    missing === undefined
      ? ''
      : `; ${of.shown(missing.quantity)} ${base} of the order is missing and counts as filled, so that it is not traded again`;
  const says = `the account shows ${of.shown(quantity)} ${base} of ${id}${lacks}`;
  yield { at, strategy, event: 'noted', slices: [slice], pair, side, says };
}

interface Speaker {
  readonly shown: (amount: string) => string;
  base(pair: string): string;
  quote(pair: string): string;
}

const keyOf = ({ parent, slice }: { readonly parent: string; readonly slice: number }): string =>
  `${parent}/${slice}`;

/** The result of one wake, in the words of `whyOf`, or as the slices that it started. */
export function wakeWords(at: Instant, wake: WakeRecord, options: WhyOptions): string {
  const { shown = (amount: string) => amount } = options;
  const of: Speaker = {
    shown,
    base: (pair) => options.currencies(pair)?.base ?? `of ${pair}`,
    quote: (pair) => options.currencies(pair)?.quote ?? `in the quote currency of ${pair}`,
  };
  const started = wake.intents.map(
    (intent) => `begins slice ${intent.slice}: ${intent.side} ${wantedOf(intent, of, shown)}`,
  );
  const lines = [...started, ...[...wakeEntries(at, wake, of)].map(({ says }) => says)];
  return lines.length === 0 ? 'nothing to trade yet: it waits' : lines.join('; ');
}

/** The entries of a wake other than the slices that it started. Those slices have their own entries when they end. */
function* wakeEntries(at: Instant, wake: WakeRecord, of: Speaker): Generator<WhyEntry> {
  const { strategy, reason, note, finished, missed } = wake;
  const next = nextOf(wake);
  const [first] = missed;
  const about =
    first === undefined ? {} : { leg: legOf(first.leg), slices: missed.map(({ slice }) => slice) };
  const base = { at, strategy, ...about, reason, figures: note, next };
  const why = because(reason, note, of);
  if (wake.on === 'run')
    yield {
      at,
      strategy,
      event: 'noted',
      says: `runs now on request of ${wake.detail['by']}: ${wake.detail['why']}`,
    };
  if (untradedBy(wake) !== undefined) {
    const what = first === undefined ? 'woke without trading' : `${missedText(missed)} did not trade`;
    yield { ...base, event: 'not_traded', says: `${what}${why}` };
  } else if (reason !== undefined && reason !== 'waiting' && finished === undefined) {
    yield { ...base, event: 'noted', says: why.replace(/^: /u, '') };
  }
  if (finished === undefined) return;
  // The previous entry already reports this reason.
  const ending = finished === reason && untradedBy(wake) !== undefined ? '' : because(finished, note, of);
  yield { at, strategy, event: 'ended', reason: finished, figures: note, says: `ends${ending}` };
}

function nextOf({ waits }: WakeRecord): Instant | undefined {
  const times = waits.flatMap((wait) => (wait.on === 'at' ? [wait.at] : []));
  return times.length === 0 ? undefined : instant(Math.min(...times));
}

function sliceTold(
  at: Instant,
  record: SliceRecord,
  { open, of }: { readonly open: Open | undefined; readonly of: Speaker },
): WhyEntry {
  const { strategy, slice, result, reason, detail } = record;
  const intent = open?.intent;
  const pair = intent?.pair ?? '';
  const bought = intent?.side === 'sell' ? 'sold' : 'bought';
  const filled = `${record.filled} ${of.base(pair)}`;
  const amount = `${record.filled_amount} ${of.quote(pair)}`;
  const wanted = intent && wantedOf(intent, of);
  const asked = intent && wantedOf(intent, of, of.shown);
  const why = because(reason, detail, of);
  const isTraded = result === 'filled';
  const before = `${intent?.side ?? 'trade'} ${asked ?? ''}`.trimEnd();
  const tries = open === undefined || open.attempts < 2 ? '' : ` after ${open.attempts} tries`;
  return {
    at,
    strategy,
    event: isTraded ? 'traded' : 'not_traded',
    leg: legOf(record.leg),
    slices: [slice],
    pair: intent?.pair,
    side: intent?.side,
    wanted,
    ...(isTraded ? { filled, amount } : {}),
    attempts: open?.attempts,
    reason,
    figures: detail,
    says: isTraded
      ? `${bought} ${of.shown(record.filled)} ${of.base(pair)} for ${of.shown(record.filled_amount)} ${of.quote(pair)}${why === '' ? '' : ` of ${asked ?? 'more'}${why}`}`
      : `did not ${before}: ${result}${tries}${why}`,
  };
}

/** A trade of a slice for which this journal contains no decision, found in the account after an older copy was restored. */
const strayEntry = (at: Instant, fill: FillRecord, of: Speaker): WhyEntry => ({
  at,
  strategy: fill.strategy,
  event: 'traded',
  slices: [fill.slice],
  pair: fill.pair,
  side: fill.side,
  filled: `${fill.quantity} ${fill.base}`,
  amount: `${fill.amount} ${fill.quote}`,
  says: `${fill.side === 'buy' ? 'bought' : 'sold'} ${of.shown(fill.quantity)} ${fill.base} for ${of.shown(fill.amount)} ${fill.quote}, a trade found in the account`,
});

function openEntry({ strategy, at, intent, attempts, last }: Open, of: Speaker): WhyEntry {
  const wanted = wantedOf(intent, of);
  const state =
    last === undefined ? '' : `; its last attempt: ${last.result}${because(last.reason, last.detail, of)}`;
  return {
    at,
    strategy,
    event: 'open',
    leg: legOf(intent.leg),
    slices: [intent.slice],
    pair: intent.pair,
    side: intent.side,
    wanted,
    attempts,
    reason: last?.reason,
    figures: last?.detail,
    next: intent.deadline,
    says: `${intent.side} ${wantedOf(intent, of, of.shown)} is under way${state}`,
  };
}

const wantedOf = (
  { by, size, pair }: IntentText,
  of: Speaker,
  shown: Speaker['shown'] = (amount) => amount,
): string =>
  by === 'quantity'
    ? `${shown(size)} ${of.base(pair)}`
    : `${shown(size)} ${of.quote(pair)} of ${of.base(pair)}`;

/** The only leg of a strategy needs no name. */
const legOf = (leg: string): string | undefined => (leg === 'all' ? undefined : leg);

/** `slices 3 to 7`, or `4 slices` when they are not consecutive or belong to several parents. */
function missedText(missed: WakeRecord['missed']): string {
  const [first] = missed;
  const last = missed.at(-1);
  if (first === undefined || last === undefined) return '';
  if (missed.length === 1) return `slice ${first.slice}`;
  const isRow = missed.every(({ leg, slice }, i) => leg === first.leg && slice === first.slice + i);
  return isRow ? `slices ${first.slice} to ${last.slice}` : `${missed.length} slices`;
}

/** A reason in words with its figures, as a continuation of a sentence. */
function because(reason: Reason | undefined, figures: string | undefined, of: Speaker): string {
  const numbers = figures === undefined || figures === '' ? '' : plainFigures(figures, of);
  if (reason === undefined) return numbers === '' ? '' : `: ${numbers}`;
  return `: ${reasons[reason]}${numbers === '' ? '' : ` (${numbers})`}`;
}

/** Formats `limit=59000 value=60000.12` for people. */
function plainFigures(text: string, { shown }: Speaker): string {
  const { limit, value } = /^limit=(?<limit>.*) value=(?<value>.*)$/su.exec(text)?.groups ?? {};
  return limit === undefined || value === undefined ? text : `limit ${shown(limit)}, here ${shown(value)}`;
}
