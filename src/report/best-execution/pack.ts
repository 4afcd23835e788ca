import type { Reason } from '../../core/reasons.ts';
import { reasons } from '../../core/reasons.ts';
import type { StoredRecord } from '../../core/record.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { untradedBy } from '../../core/cycle/untraded.ts';
import { figuresFrom } from '../figures/figures.ts';
import type { Figures, Group, ReportInput } from '../figures/figures.ts';
import { foldJournal } from '../figures/fold-journal.ts';
import { PriceBook } from '../figures/prices.ts';
import { SIGNS, groupJson, quotingJson, totalJson, untradedJson } from '../json/json.ts';
import { known, slippage } from '../json/json-parts.ts';
import type { Report } from '../json/schema.ts';
import { AttemptTrails, answerTimesOf, recordsOf } from './attempt-trails.ts';
import type { AnswerTimes, Trail } from './attempt-trails.ts';
import { OUTLIER_RULE, boundKey, boundsOf, judgedSlices, outlierOf } from './outliers.ts';
import type { CostBound, JudgedSlice, Outlier } from './outliers.ts';
import { Oversight } from './oversight.ts';
import type { Span } from './oversight.ts';
import { oversightJson } from './oversight-json.ts';
import type { Checked, OversightJson } from './oversight-json.ts';
import { RecordLinks } from './record-links.ts';
import type { Linked } from './record-links.ts';

/** The facts for judging a desk's executions, taken only from its journal: plain JSON, amounts as text, times in ISO 8601. */
export interface Pack extends OversightJson {
  readonly format: typeof PACK_FORMAT;
  readonly version: string;
  readonly signs: typeof SIGNS;
  readonly desks: readonly string[];
  readonly modes: readonly string[];
  readonly from: string;
  readonly until: string;
  /** The newest record of the journal, whose hash covers all others. */
  readonly head: { readonly seq: number; readonly hash: string };
  /** Every record that a figure names individually, with its hash. */
  readonly records: readonly NamedRecord[];
  readonly periods: readonly PackPeriod[];
  readonly outliers: {
    readonly rule: string;
    readonly bounds: readonly CostBound[];
    /** Largest distance from the median first. */
    readonly slices: readonly OutlierJson[];
    readonly left_out: number;
  };
}

export interface NamedRecord {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly hash: string;
}

/**
 * Format version: it increases when a field is removed or changes its meaning. New fields may be added without a new version.
 */
export const PACK_FORMAT = 1;

/** One period, with the parents that started in it, each as a whole, as in `tranche report --since --until`. */
export interface PackPeriod {
  readonly name: string;
  readonly from: string;
  readonly until: string;
  /** The newest record before its end. */
  readonly head?: { readonly seq: number; readonly hash: string } | undefined;
  readonly quoting: Report['quoting'];
  readonly answer_times: AnswerTimes;
  readonly totals: Report['totals'];
  readonly groups: readonly PackGroup[];
  readonly refused: readonly Refused[];
  readonly untraded: readonly (Report['untraded'][number] & { readonly records: Linked })[];
}

/** Parents of one strategy, pair and side, with the records behind its figures. */
export type PackGroup = Report['groups'][number] & {
  /** Compared with the mean of the journal's own reference prices over each parent's window. */
  readonly reference_twap_slippage_bps?: string | undefined;
  readonly answer_times: AnswerTimes;
  readonly records: {
    /** Intents; each is a quote request. */
    readonly requests: Linked;
    /** Quotes of orders that were sent. */
    readonly orders: Linked;
    /** Fills and their corrections. */
    readonly fills: Linked;
    /** Outcomes of attempts that did not trade. */
    readonly refused: Linked;
  };
};

/** Attempts that did not trade, by reason. */
interface Refused {
  readonly reason: Reason;
  readonly words: string;
  readonly attempts: number;
  readonly records: Linked;
}

export type OutlierJson = Omit<Outlier, 'records'> & { readonly records: Linked };

/** A calendar month, or the whole window. Excludes `until`. */
export interface PeriodSpan {
  readonly name: string;
  readonly from: Instant;
  readonly until: Instant;
}

export interface PackInput extends Pick<ReportInput, 'version' | 'prices' | 'strategy' | 'currencies'> {
  /** Consecutive, without gaps; at least one. */
  readonly periods: readonly PeriodSpan[];
  /** Results of the check of the approvals, by record. Called once all records have been read. */
  readonly checked?: (() => ReadonlyMap<number, Checked>) | undefined;
}

/** Maximum number of listed outliers; the others are only counted. */
const OUTLIERS_MAX = 100;

/**
 * Computes the pack from the records of a journal, oldest first. Pure; reads the records once. The caller reads them
 * again for the records that `links` names.
 */
export function packOf(
  records: Iterable<StoredRecord>,
  input: PackInput,
): { readonly pack: Omit<Pack, 'records'>; readonly links: RecordLinks } {
  const { periods } = input;
  const prices = new PriceBook(input.prices);
  const watch = new Watch(periods);
  const facts = foldJournal(watch.over(records), prices);
  watch.oversight.finish();
  const links = new RecordLinks();
  const figuresIn = ({ from, until }: Span): Figures =>
    figuresFrom(facts, prices, { ...input, since: from, until });
  const span = spanOf(periods);
  const starts = watch.oversight.starts.map(({ body }) => body);
  const checked = input.checked?.() ?? new Map<number, Checked>();
  const pack: Omit<Pack, 'records'> = {
    format: PACK_FORMAT,
    version: input.version,
    signs: SIGNS,
    desks: distinct(starts.map(({ desk }) => desk)),
    modes: distinct(starts.map(({ mode }) => mode)),
    from: isoOf(span.from),
    until: isoOf(span.until),
    head: watch.head,
    periods: periods.map((period, i) =>
      periodJson(period, { figures: figuresIn(period), watch, links, head: watch.heads[i] }),
    ),
    outliers: outliersJson(figuresIn(span), watch.trails, links),
    ...oversightJson({
      oversight: watch.oversight,
      facts,
      links,
      span,
      checked,
      recordsOfOrder: (order) =>
        [watch.trails.ofOrder(order)].flatMap((trail) => (trail === undefined ? [] : recordsOf(trail))),
    }),
  };
  return { pack, links };
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

export const spanOf = (periods: readonly PeriodSpan[]): Span => ({
  from: periods[0]?.from ?? instant(0),
  until: periods.at(-1)?.until ?? instant(0),
});

interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** Collects the record numbers, which the figures of a report do not contain. */
class Watch {
  readonly trails = new AttemptTrails();
  readonly oversight: Oversight;
  readonly untraded: { readonly at: Instant; readonly key: string; readonly seq: number }[] = [];
  /** The newest record, and for each period the newest record before its end. */
  head: Head = { seq: 0, hash: '' };
  readonly heads: (Head | undefined)[] = [];
  readonly #periods: readonly PeriodSpan[];

  constructor(periods: readonly PeriodSpan[]) {
    this.#periods = periods;
    this.oversight = new Oversight(spanOf(periods));
  }

  *over(records: Iterable<StoredRecord>): Generator<StoredRecord> {
    for (const record of records) {
      this.#take(record);
      yield record;
    }
  }

  #take(record: StoredRecord): void {
    const { seq, at, body, hash } = record;
    this.trails.take(record);
    this.oversight.take(record);
    this.head = { seq, hash };
    for (const [i, { until }] of this.#periods.entries()) if (at < until) this.heads[i] = this.head;
    const lost = untradedBy(body);
    if (lost !== undefined) this.untraded.push({ at, seq, key: untradedKey(lost) });
  }
}

const untradedKey = ({ strategy, reason }: { readonly strategy: string; readonly reason: string }): string =>
  `${strategy}/${reason}`;

interface PeriodScene {
  readonly figures: Figures;
  readonly watch: Watch;
  readonly links: RecordLinks;
  readonly head: Head | undefined;
}

function periodJson(period: PeriodSpan, { figures, watch, links, head }: PeriodScene): PackPeriod {
  const { name, from, until } = period;
  const { trails } = watch;
  const trailsOf = ({ parents }: Group): readonly Trail[] =>
    parents.flatMap(({ facts }) => trails.ofParent(facts.parent));
  const all = figures.groups.flatMap(trailsOf);
  const untraded = Map.groupBy(
    watch.untraded.filter(({ at }) => at >= from && at < until),
    ({ key }) => key,
  );
  return {
    name,
    from: isoOf(from),
    until: isoOf(until),
    ...known({ head }),
    quoting: quotingJson(figures.quoting),
    answer_times: answerTimesOf(all),
    totals: figures.totals.map(totalJson),
    groups: figures.groups.map((group) => groupWithRecords(group, trailsOf(group), { name, links })),
    refused: refusedJson(figures, all, { name, links }),
    untraded: untradedJson(figures.untraded).map((row) => ({
      ...row,
      records: links.link(
        `${name}/untraded/${untradedKey(row)}`,
        (untraded.get(untradedKey(row)) ?? []).map(({ seq }) => seq),
      ),
    })),
  };
}

interface Naming {
  readonly name: string;
  readonly links: RecordLinks;
}

function groupWithRecords(group: Group, trails: readonly Trail[], { name, links }: Naming): PackGroup {
  const { strategy, pair, side } = group;
  const link = (what: string, records: readonly number[]): Linked =>
    links.link(`${name}/${strategy}/${pair}/${side}/${what}`, records);
  return {
    ...groupJson(group),
    ...known({ reference_twap_slippage_bps: slippage(group.references) }),
    answer_times: answerTimesOf(trails),
    records: {
      requests: link(
        'requests',
        trails.map(({ intent }) => intent),
      ),
      orders: link(
        'orders',
        trails.flatMap(({ quote }) => quote?.seq ?? []),
      ),
      fills: link(
        'fills',
        trails.flatMap(({ fills }) => fills),
      ),
      refused: link(
        'refused',
        trails.flatMap((trail) => untradedEnd(trail)?.seq ?? []),
      ),
    },
  };
}

/** The record that ended an attempt without a trade. */
const untradedEnd = ({ ends }: Trail): Trail['ends'][number] | undefined => {
  const last = ends.at(-1);
  return last === undefined || last.result === 'filled' ? undefined : last;
};

function refusedJson(
  figures: Figures,
  trails: readonly Trail[],
  { name, links }: Naming,
): readonly Refused[] {
  const ends = Map.groupBy(
    trails.flatMap((trail) => untradedEnd(trail) ?? []),
    ({ reason }) => reason,
  );
  return figures.quoting.refusals.map(({ reason, attempts }) => ({
    reason,
    words: reasons[reason],
    attempts,
    records: links.link(
      `${name}/refused/${reason}`,
      (ends.get(reason) ?? []).map(({ seq }) => seq),
    ),
  }));
}

function outliersJson(figures: Figures, trails: AttemptTrails, links: RecordLinks): Pack['outliers'] {
  const slices = judgedSlices(figures);
  const bounds = boundsOf(slices);
  const distance = (slice: JudgedSlice): number => bounds.get(boundKey(slice))?.distance(slice.bps) ?? 0;
  const beyond = slices
    .filter((slice) => bounds.get(boundKey(slice))?.isBeyond(slice.bps) === true)
    .toSorted((a, b) => distance(b) - distance(a));
  return {
    rule: OUTLIER_RULE,
    bounds: [...bounds.values()].map(({ stated }) => stated),
    slices: beyond.slice(0, OUTLIERS_MAX).map((slice) => {
      const { records, ...outlier } = outlierOf(slice, trails);
      return { ...outlier, records: links.link(`outliers/${outlier.parent}/${outlier.slice}`, records) };
    }),
    left_out: Math.max(0, beyond.length - OUTLIERS_MAX),
  };
}
