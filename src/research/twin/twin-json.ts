import { ratio, size, text } from '../../core/money.ts';
import type { Money, Ratio } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import { decisionOf, inBps } from './compare.ts';
import type { Comparison, Row } from './compare.ts';
import type { SliceOutcome } from './outcomes.ts';
import { causes } from './twin-setup.ts';
import type { Cause } from './twin-setup.ts';

/** The input of a comparison. */
export interface ComparisonHead {
  readonly version: 1;
  readonly journal: string;
  /** Hash of the last record, which proves all others. */
  readonly head: string;
  readonly modes: readonly string[];
  readonly from: string;
  readonly until: string;
  readonly model: string;
}

/** `twin.json`. Amounts are text. Differences are live minus its twin, in USD; a positive difference favours live. */
export interface TwinReport extends ComparisonHead {
  /** `beyond`: the absolute difference is larger than the bound. `empty`: live traded nothing. */
  readonly verdict: 'within' | 'beyond' | 'empty';
  readonly bound_bps: string;
  readonly traded_usd: string;
  readonly difference_usd: string;
  readonly difference_bps: string | undefined;
  /** In the order in which the twin adopted them from live. The causes sum exactly to the difference. */
  readonly causes: readonly CauseShare[];
  /** Live's mean cost minus the twin's for slices that both traded, and the interval that contains 95 % of its resamples. */
  readonly cost_bps:
    | { readonly mean: string; readonly low: string; readonly high: string; readonly slices: number }
    | undefined;
  readonly live: SideSum;
  readonly twin: SideSum;
  /** How slices ended, in live and in the twin. */
  readonly decisions: Comparison['decisions'];
  /** Number of slices that the model quoted, because live requested no quote for them. */
  readonly modelled: number;
  readonly notes: readonly string[];
  readonly slices: readonly SliceRow[];
}

/** All slices of one side. */
export interface SideSum {
  readonly filled: number;
  readonly expired: number;
  readonly attempts: number;
  /** Number of orders that the venue refused. */
  readonly refusals: number;
  readonly doubts: number;
  /** From the decision of a slice to its first fill, milliseconds; absent if nothing was filled. */
  readonly median_delay_ms: number | undefined;
}

export interface CauseShare {
  readonly cause: Cause | 'rest';
  readonly says: string;
  readonly usd: string;
  readonly bps: string | undefined;
}

export interface SliceRow {
  readonly strategy: string;
  readonly parent: string;
  readonly slice: number;
  readonly pair: string;
  readonly side: string;
  readonly decided_at: string;
  readonly live: Side;
  readonly twin: Side;
  readonly difference_usd: string;
  /** Causes with a difference other than zero. */
  readonly causes: Readonly<Partial<Record<Cause | 'rest', string>>>;
  readonly modelled: boolean;
  /** Numbers of the records of live. */
  readonly records: readonly number[];
}

interface Side {
  /** `filled`, `not_decided`, or the reason why the slice did not fill. */
  readonly decision: string;
  readonly quantity: string;
  readonly amount: string;
  readonly fees: string;
  readonly cost_bps: string | undefined;
  readonly attempts: number;
  readonly refusals: number;
  readonly doubts: number;
  readonly executed_at: string | undefined;
  /** From the decision to the first fill, milliseconds. */
  readonly delay_ms: number | undefined;
}

/** Descriptions of the causes, for people. */
export const CAUSES: Readonly<Record<Cause | 'rest', string>> = {
  text: 'strategies were started, edited or removed, or limits changed, while the desk ran',
  people: 'halts, pauses, stops and runs that people commanded',
  sizing: 'deposits and withdrawals, which reduced or increased sizes',
  latency: 'quotes and orders took more or less time than in the model',
  quote: 'the venue quoted other prices, or did not quote',
  last_look: 'the venue or the model refused orders',
  doubt: 'outcomes of orders were unknown until the account proved them',
  rest: 'differences that none of the causes above explains',
};

/** Causes that another model may remedy. */
const OF_THE_MODEL: ReadonlySet<string> = new Set(['latency', 'quote', 'last_look']);

export interface ReportFacts {
  readonly journal: string;
  readonly modes: readonly string[];
  readonly model: string;
  readonly bound: Ratio;
  readonly notes: readonly string[];
}

export function twinReport(found: Comparison, facts: ReportFacts): TwinReport {
  const { from, until, head, rows, traded, total, shares, decisions, cost, modelled } = found;
  const bps = inBps(total, traded);
  return {
    version: 1,
    journal: facts.journal,
    head,
    modes: facts.modes,
    from: isoOf(from),
    until: isoOf(until),
    model: facts.model,
    verdict: bps === undefined ? 'empty' : bps.abs().gt(facts.bound) ? 'beyond' : 'within',
    bound_bps: text(facts.bound),
    traded_usd: text(traded),
    difference_usd: text(total),
    difference_bps: shownBps(bps),
    causes: ([...causes, 'rest'] as const).map((cause) => ({
      cause,
      says: CAUSES[cause],
      usd: text(shares[cause]),
      bps: shownBps(inBps(shares[cause], traded)),
    })),
    cost_bps:
      cost === undefined
        ? undefined
        : {
            mean: cost.mean.toFixed(4),
            low: cost.low.toFixed(4),
            high: cost.high.toFixed(4),
            slices: cost.slices,
          },
    live: sumOf(rows.map(({ live }) => live)),
    twin: sumOf(rows.map(({ twin }) => twin)),
    decisions,
    modelled,
    notes: facts.notes,
    slices: rows.map(sliceRow),
  };
}

const BPS_DECIMALS = 4;
export const shownBps = (bps: Ratio | undefined): string | undefined => bps?.toFixed(BPS_DECIMALS);

function sliceRow(row: Row): SliceRow {
  const { live, twin, total, shares, isModelled } = row;
  const { strategy = '', parent = '', slice = 0, pair = '', side = '', decidedAt } = live ?? twin ?? {};
  return {
    strategy,
    parent,
    slice,
    pair,
    side,
    decided_at: decidedAt === undefined ? '' : isoOf(decidedAt),
    live: sideOf(live, row.liveBps),
    twin: sideOf(twin, row.twinBps),
    difference_usd: text(total),
    causes: Object.fromEntries(
      Object.entries(shares).flatMap(([cause, usd]: [string, Money]) =>
        usd.isZero() ? [] : [[cause, text(usd)]],
      ),
    ),
    modelled: isModelled,
    records: live?.records ?? [],
  };
}

const sideOf = (slice: SliceOutcome | undefined, bps: Ratio | undefined): Side => ({
  decision: decisionOf(slice),
  quantity: slice === undefined ? '0' : text(slice.quantity),
  amount: slice === undefined ? '0' : text(slice.amount),
  fees: slice === undefined ? '0' : text(slice.fees),
  cost_bps: shownBps(bps),
  attempts: slice?.attempts ?? 0,
  refusals: slice?.refusals ?? 0,
  doubts: slice?.doubts ?? 0,
  executed_at: slice?.executedAt === undefined ? undefined : isoOf(slice.executedAt),
  delay_ms: slice === undefined ? undefined : delayOf(slice),
});

const delayOf = ({ decidedAt, executedAt }: SliceOutcome): number | undefined =>
  executedAt === undefined ? undefined : Math.max(0, executedAt - decidedAt);

function sumOf(sides: readonly (SliceOutcome | undefined)[]): SideSum {
  const slices = sides.filter((slice) => slice !== undefined);
  const count = (of: (slice: SliceOutcome) => number): number =>
    slices.reduce((all, each) => all + of(each), 0);
  const delays = slices.flatMap((slice) => delayOf(slice) ?? []).toSorted((a, b) => a - b);
  return {
    filled: count(({ result }) => Number(result === 'filled')),
    expired: count(({ result }) => Number(result === 'expired')),
    attempts: count(({ attempts }) => attempts),
    refusals: count(({ refusals }) => refusals),
    doubts: count(({ doubts }) => doubts),
    median_delay_ms: delays[Math.floor(delays.length / 2)],
  };
}

/** Returns the cause with the largest absolute share; `undefined` if nothing differs. */
export function largestCause({ causes: shares }: TwinReport): CauseShare | undefined {
  const sizeOf = ({ usd }: CauseShare): Ratio => size(ratio(usd));
  const largest = shares.reduce<CauseShare | undefined>(
    (most, each) => (most === undefined || sizeOf(each).gt(sizeOf(most)) ? each : most),
    undefined,
  );
  return largest === undefined || sizeOf(largest).isZero() ? undefined : largest;
}

/** Whether fitting the model to the journal may remove the difference. */
export const isOfModel = (share: CauseShare | undefined): boolean =>
  share !== undefined && OF_THE_MODEL.has(share.cause);
