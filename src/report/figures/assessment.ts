import { add, money, NO_MONEY, text } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import { reasons } from '../../core/reasons.ts';
import type { Reason } from '../../core/reasons.ts';
import type {
  ControlRecord,
  OverrideRecord,
  RecordBody,
  ResolvedRecord,
  StoredRecord,
} from '../../core/record.ts';
import { OrderLimits } from './order-limits.ts';
import type { LimitPeriod, OrderVerdict } from './order-limits.ts';
import { MINUTE_MS, SECOND_MS, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';

/**
 * The yearly self-assessment of a desk (RTS 6 Art. 9, SEC 15c3-5 (e)): what it traded and how fast, what its controls
 * refused, every halt and who lifted it, every order with an unknown outcome and how it ended, and the decisions of
 * people. Computed only from the journal.
 */
export interface Assessment {
  readonly desks: readonly string[];
  /** First and last record of the period; `undefined` without records. */
  readonly period: { readonly from: Instant; readonly until: Instant } | undefined;
  readonly records: number;
  readonly orders: number;
  readonly fills: number;
  /** Sum of the fills without corrections, in the currency of the limits. */
  readonly notional: Money;
  /** Largest number of orders in any second and any minute, and when it was first reached. */
  readonly peaks: { readonly second: Peak; readonly minute: Peak };
  /** The day (UTC) of the largest value. */
  readonly largestDay: { readonly day: string; readonly notional: Money } | undefined;
  readonly refusals: readonly Refusal[];
  /** Changes of the desk, of parents and of pairs, oldest first. */
  readonly controls: readonly At<ControlRecord>[];
  readonly doubts: Doubts;
  readonly resolved: readonly At<ResolvedRecord>[];
  readonly overrides: readonly At<OverrideRecord>[];
  /** Fills whose figures the account corrected. */
  readonly corrections: number;
  /** Fills proven by the account, a lookup or a person, not by the answer to the order. */
  readonly provenLater: Readonly<Record<string, number>>;
  readonly limits: LimitsJudged;
  readonly starts: readonly Start[];
  /** Processes that ended without a record. */
  readonly deaths: number;
}

/** The limits that orders were compared with, and the results. */
export interface LimitsJudged {
  /**
   * Whether the journal records its settings. If not, the limits come from its starts and reloads, if these contain
   * any.
   */
  readonly isRecorded: boolean;
  /** Oldest first: the limits in force in the period of the assessment. */
  readonly periods: readonly (LimitPeriod & { readonly orders: number })[];
  /** Number of orders by verdict. */
  readonly counts: Readonly<Record<OrderVerdict['verdict'], number>>;
  /** Orders beyond a limit, with an override or without. */
  readonly exceptions: readonly OrderVerdict[];
  /** Every order, if asked for. */
  readonly verdicts?: readonly OrderVerdict[] | undefined;
}

export interface AssessOptions {
  /** Start of the period; default: all records. */
  readonly from?: Instant | undefined;
  /** Keeps the verdict of every order. */
  readonly hasVerdicts?: boolean | undefined;
}

export interface Peak {
  readonly orders: number;
  readonly at: Instant | undefined;
}

export type At<Body> = Body & { readonly at: Instant };

/** A reason that prevented or reduced a trade. */
export interface Refusal {
  readonly reason: Reason;
  readonly words: string;
  /** Number of slices and attempts that ended with the reason, of sizes that it cut, and of wakes that reported it. */
  readonly slices: number;
  readonly attempts: number;
  readonly cuts: number;
  readonly wakes: number;
  readonly first: Instant;
  readonly last: Instant;
}

export interface Doubts {
  readonly opened: number;
  /** By result in the journal: `filled`, `absent`, `rejected`. */
  readonly ended: Readonly<Record<string, number>>;
  readonly byPerson: number;
  readonly open: readonly string[];
  /** Milliseconds from the doubt to its end. */
  readonly longestMs: number;
  readonly medianMs: number;
}

export interface Start {
  readonly at: Instant;
  readonly version: string;
  readonly mode: string;
  readonly config: string;
}

/** Folds the records from `from` on, oldest first. They are read once, and none is stored. */
export function assess(records: Iterable<StoredRecord>, options: AssessOptions = {}): Assessment {
  const { from } = options;
  const fold = new Fold(options);
  for (const record of records) {
    fold.limits.take(record);
    // A doubt may start before the period and end in it.
    if (from === undefined || record.at >= from) fold.take(record.at, record.body);
    else fold.before(record.at, record.body);
  }
  return fold.result();
}

interface RefusalCount {
  slices: number;
  attempts: number;
  cuts: number;
  wakes: number;
  readonly first: Instant;
  last: Instant;
}

/** Maximum number of events in any span of `spanMs` that excludes its end. */
class Window {
  readonly #spanMs: number;
  #times: Instant[] = [];
  #head = 0;
  peak: Peak = { orders: 0, at: undefined };

  constructor(spanMs: number) {
    this.#spanMs = spanMs;
  }

  add(at: Instant): void {
    this.#times.push(at);
    while ((this.#times[this.#head] ?? at) <= at - this.#spanMs) this.#head += 1;
    const orders = this.#times.length - this.#head;
    if (orders > this.peak.orders) this.peak = { orders, at };
    if (this.#head > 10_000) {
      this.#times = this.#times.slice(this.#head);
      this.#head = 0;
    }
  }
}

class Fold {
  readonly limits: OrderLimits;
  readonly #verdicts: OrderVerdict[] = [];
  readonly #exceptions: OrderVerdict[] = [];
  readonly #judged: Record<OrderVerdict['verdict'], number> = {
    within: 0,
    override: 0,
    beyond: 0,
    unknown: 0,
  };
  readonly #ordersUnder = new Map<number, number>();
  readonly #options: AssessOptions;
  #period: Assessment['period'];
  readonly #desks = new Set<string>();
  readonly #count = { records: 0, orders: 0, fills: 0, corrections: 0, deaths: 0, opened: 0, byPerson: 0 };
  #notional = NO_MONEY;
  readonly #windows = { second: new Window(SECOND_MS), minute: new Window(MINUTE_MS) };
  /** By day, because a trade of yesterday may be proven after today's first trade. */
  readonly #days = new Map<string, Money>();
  #largestDay: Assessment['largestDay'];
  readonly #refusals = new Map<Reason, RefusalCount>();
  readonly #controls: At<ControlRecord>[] = [];
  readonly #open = new Map<string, Instant>();
  readonly #ended: Record<string, number> = {};
  readonly #lastedMs: number[] = [];
  readonly #resolved: At<ResolvedRecord>[] = [];
  readonly #overrides: At<OverrideRecord>[] = [];
  readonly #provenLater: Record<string, number> = {};
  readonly #starts: Start[] = [];
  #isRunning = false;

  constructor(options: AssessOptions) {
    this.#options = options;
    this.limits = new OrderLimits((verdict) => {
      if (options.from === undefined || verdict.at >= options.from) this.#judge(verdict);
    });
  }

  #judge(verdict: OrderVerdict): void {
    this.#judged[verdict.verdict] += 1;
    if (verdict.limits_record !== undefined) {
      const orders = this.#ordersUnder.get(verdict.limits_record) ?? 0;
      this.#ordersUnder.set(verdict.limits_record, orders + 1);
    }
    if (verdict.verdict === 'override' || verdict.verdict === 'beyond') this.#exceptions.push(verdict);
    if (this.#options.hasVerdicts === true) this.#verdicts.push(verdict);
  }

  /** Before the period, only open processes and doubts matter. */
  before(at: Instant, body: RecordBody): void {
    if (body.kind === 'started') this.#isRunning = true;
    else if (body.kind === 'stopped') this.#isRunning = false;
    else if (body.kind === 'attempt' && body.result === 'doubt')
      this.#open.set(body.client_order_id, this.#open.get(body.client_order_id) ?? at);
    else if (body.kind === 'attempt' || body.kind === 'fill') this.#open.delete(body.client_order_id);
  }

  take(at: Instant, body: RecordBody): void {
    this.#count.records += 1;
    this.#period = { from: this.#period?.from ?? at, until: at };
    switch (body.kind) {
      case 'started': {
        if (this.#isRunning) this.#count.deaths += 1;
        this.#isRunning = true;
        this.#desks.add(body.desk);
        this.#starts.push({ at, version: body.version, mode: body.mode, config: body.config_hash });
        break;
      }
      case 'stopped':
        this.#isRunning = false;
        break;
      case 'wake':
        if (body.reason !== undefined) this.#countOf(body.reason, at).wakes += 1;
        break;
      case 'intent':
        this.#count.orders += 1;
        this.#windows.second.add(at);
        this.#windows.minute.add(at);
        for (const reason of body.cuts) this.#countOf(reason, at).cuts += 1;
        break;
      case 'attempt':
        this.#attempt(at, body);
        break;
      case 'fill':
        this.#fill(body);
        this.#end(at, body.client_order_id, 'filled');
        break;
      case 'slice':
        if (body.reason !== undefined) this.#countOf(body.reason, at).slices += 1;
        break;
      case 'resolved':
        this.#count.byPerson += 1;
        this.#resolved.push({ ...body, at });
        break;
      case 'correction':
        this.#count.corrections += 1;
        break;
      case 'override':
        this.#overrides.push({ ...body, at });
        break;
      case 'control':
        this.#controls.push({ ...body, at });
        break;
      default:
    }
  }

  #limits(): LimitsJudged {
    this.limits.finish();
    const { from = -Infinity, hasVerdicts } = this.#options;
    const { periods } = this.limits;
    return {
      isRecorded: this.limits.isRecorded,
      // Omits periods that ended before the assessment began.
      periods: periods
        .filter((_, index) => (periods[index + 1]?.since ?? Infinity) >= from)
        .map((period) => ({ ...period, orders: this.#ordersUnder.get(period.record) ?? 0 })),
      counts: this.#judged,
      exceptions: this.#exceptions,
      ...(hasVerdicts === true ? { verdicts: this.#verdicts } : {}),
    };
  }

  result(): Assessment {
    const { records, orders, fills, corrections, deaths, opened, byPerson } = this.#count;
    const lasted = this.#lastedMs.toSorted((a, b) => a - b);
    return {
      desks: [...this.#desks],
      period: this.#period,
      records,
      orders,
      fills,
      notional: this.#notional,
      peaks: { second: this.#windows.second.peak, minute: this.#windows.minute.peak },
      largestDay: this.#largestDay,
      refusals: [...this.#refusals]
        .map(([reason, count]) => ({ reason, words: reasons[reason], ...count }))
        .toSorted((a, b) => timesOf(b) - timesOf(a) || (a.reason < b.reason ? -1 : 1)),
      controls: this.#controls,
      doubts: {
        opened,
        ended: this.#ended,
        byPerson,
        open: [...this.#open.keys()],
        longestMs: lasted.at(-1) ?? 0,
        medianMs: lasted[Math.floor(lasted.length / 2)] ?? 0,
      },
      resolved: this.#resolved,
      overrides: this.#overrides,
      corrections,
      provenLater: this.#provenLater,
      limits: this.#limits(),
      starts: this.#starts,
      deaths,
    };
  }

  #countOf(reason: Reason, at: Instant): RefusalCount {
    const count = this.#refusals.get(reason) ?? {
      slices: 0,
      attempts: 0,
      cuts: 0,
      wakes: 0,
      first: at,
      last: at,
    };
    count.last = at;
    this.#refusals.set(reason, count);
    return count;
  }

  #attempt(at: Instant, body: RecordBody & { kind: 'attempt' }): void {
    if (body.result === 'doubt') {
      if (this.#open.has(body.client_order_id)) return;
      this.#open.set(body.client_order_id, at);
      this.#count.opened += 1;
      return;
    }
    if (body.reason !== undefined) this.#countOf(body.reason, at).attempts += 1;
    this.#end(at, body.client_order_id, body.result);
  }

  /** Both the fill and the end of its attempt report the end of a doubt: the first one counts. */
  #end(at: Instant, id: string, how: string): void {
    const since = this.#open.get(id);
    if (since === undefined) return;
    this.#open.delete(id);
    this.#ended[how] = (this.#ended[how] ?? 0) + 1;
    this.#lastedMs.push(at - since);
  }

  #fill(body: RecordBody & { kind: 'fill' }): void {
    this.#count.fills += 1;
    const notional = money(body.notional_usd);
    this.#notional = add(this.#notional, notional);
    const day = isoOf(body.executed_at).slice(0, 10);
    const sum = add(this.#days.get(day) ?? NO_MONEY, notional);
    this.#days.set(day, sum);
    if (this.#largestDay === undefined || sum.gt(this.#largestDay.notional))
      this.#largestDay = { day, notional: sum };
    if (body.source !== 'order' && body.source !== 'dry_run')
      this.#provenLater[body.source] = (this.#provenLater[body.source] ?? 0) + 1;
  }
}

/** Total number of occurrences of a reason. */
export const timesOf = ({ slices, attempts, cuts, wakes }: Refusal): number =>
  slices + attempts + cuts + wakes;

/** The same as plain JSON: amounts as text, times as ISO 8601. */
export function plainAssessment(it: Assessment): object {
  const timed = (list: readonly { readonly at: Instant }[]): readonly object[] =>
    list.map((one) => ({ ...one, at: isoOf(one.at) }));
  const peak = ({ orders, at }: Peak): object => ({ orders, ...(at === undefined ? {} : { at: isoOf(at) }) });
  const { period, largestDay } = it;
  return {
    ...it,
    ...(period === undefined ? {} : { period: { from: isoOf(period.from), until: isoOf(period.until) } }),
    notional: text(it.notional),
    peaks: { second: peak(it.peaks.second), minute: peak(it.peaks.minute) },
    ...(largestDay === undefined
      ? {}
      : { largestDay: { ...largestDay, notional: text(largestDay.notional) } }),
    refusals: it.refusals.map((one) => ({ ...one, first: isoOf(one.first), last: isoOf(one.last) })),
    controls: timed(it.controls),
    resolved: timed(it.resolved),
    overrides: it.overrides.map((one) => ({ ...one, at: isoOf(one.at), expires_at: isoOf(one.expires_at) })),
    starts: timed(it.starts),
    limits: {
      ...it.limits,
      periods: it.limits.periods.map((one) => ({ ...one, since: isoOf(one.since) })),
      exceptions: timed(it.limits.exceptions),
      ...(it.limits.verdicts === undefined ? {} : { verdicts: timed(it.limits.verdicts) }),
    },
  };
}
