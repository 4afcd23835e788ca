import { untradedBy } from '../../core/cycle/untraded.ts';
import { corrected } from '../../core/cycle/compare-fill.ts';
import {
  NO_MONEY,
  NO_QUANTITY,
  add,
  cost,
  fraction,
  money,
  price,
  priceOf,
  quantity,
  ratio,
  roundEven,
  scale,
  significant,
  subtract,
  text,
} from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import type { Severity } from '../../core/alerts.ts';
import type { Reason } from '../../core/reasons.ts';
import type { FillRecord, StoredRecord } from '../../core/record.ts';
import { settingWords } from '../../core/risk/setting-changes.ts';
import type { SettingChange } from '../../core/risk/setting-changes.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { Doubts } from './doubts.ts';
import type { Doubt } from './doubts.ts';

/**
 * The activity of a desk between two instants, taken only from its records: plain JSON, amounts as text. `records` are
 * the numbers that prove each line.
 */
export interface Day {
  readonly from: Instant;
  readonly until: Instant;
  readonly planned: readonly Planned[];
  readonly traded: readonly Traded[];
  readonly untraded: readonly UntradedSum[];
  readonly ended: readonly {
    readonly strategy: string;
    readonly reason: Reason;
    readonly records: Records;
  }[];
  readonly alerts: readonly AlertCount[];
  /** Changes to the desk or a part of it: halts, pauses, reloads, approvals, people. */
  readonly actions: readonly Action[];
  readonly doubts: readonly Doubt[];
  /** Records of the starts of processes. */
  readonly starts: Records;
}

/** Numbers of records, ascending. */
export type Records = readonly number[];

/** Slices that a strategy decided, and slots that passed without an attempt. */
export interface Planned {
  readonly strategy: string;
  readonly slices: number;
  readonly records: Records;
}

export interface AlertCount {
  readonly alert: string;
  readonly severity: Severity;
  readonly count: number;
  readonly records: Records;
}

export interface Action {
  /** Such as `the desk halted`. */
  readonly what: string;
  readonly by: string;
  readonly why: string;
  readonly at: Instant;
  readonly records: Records;
}

/** Fills of one strategy, pair and side. */
export interface Traded {
  readonly strategy: string;
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  readonly side: 'buy' | 'sell';
  readonly fills: number;
  readonly quantity: string;
  readonly amount: string;
  /** In quote currency, not part of `amount`. */
  readonly fees: string;
  /** Quote per base, six digits. */
  readonly averagePrice: string;
  /**
   * Cost compared with the reference price at each parent's decision, without fees; positive is bad. Omitted if a fill
   * has no such price.
   */
  readonly cost?: { readonly amount: string; readonly bps: string } | undefined;
  readonly records: Records;
}

export interface UntradedSum {
  readonly strategy: string;
  readonly reason: Reason;
  /** Slices that did not trade. */
  readonly slices: number;
  /** Evaluations without a trade. */
  readonly looks: number;
  readonly records: Records;
}

/** Folds records, oldest first. Of the records before `from`, only doubts count, because they may have ended in the period. */
export function dayOf(
  records: Iterable<StoredRecord>,
  { from, until }: { readonly from: Instant; readonly until: Instant },
): Day {
  const fold = new DayFold();
  for (const record of records) {
    if (record.at >= until) continue;
    if (record.at < from) fold.before(record);
    else fold.add(record);
  }
  return { from, until, ...fold.day() };
}

/** An entry that grows with each record about it. */
interface Sum {
  readonly records: number[];
}

class DayFold {
  readonly #planned = new Map<string, Sum & { strategy: string; slices: number }>();
  readonly #fills = new Map<string, { fill: FillRecord; records: number[] }>();
  readonly #untraded = new Map<
    string,
    Sum & { strategy: string; reason: Reason; slices: number; looks: number }
  >();
  readonly #alerts = new Map<string, Sum & { alert: string; severity: Severity; count: number }>();
  readonly #ended: { strategy: string; reason: Reason; records: Records }[] = [];
  readonly #actions: Action[] = [];
  readonly #doubts = new Doubts();
  readonly #starts: number[] = [];

  /** Processes a record from before the period. */
  before(record: StoredRecord): void {
    this.#doubts.take(record);
    this.#doubts.forgetProven();
  }

  add(record: StoredRecord): void {
    const { seq, body } = record;
    this.#doubts.take(record);
    this.#foldUntraded(record);
    const action = actionOf(record);
    if (action !== undefined) this.#actions.push(action);
    if (body.kind === 'fill') this.#fills.set(body.client_order_id, { fill: body, records: [seq] });
    else if (body.kind === 'correction') {
      const known = this.#fills.get(body.client_order_id);
      if (known !== undefined)
        this.#fills.set(body.client_order_id, {
          fill: corrected(known.fill, body),
          records: [...known.records, seq],
        });
    } else if (body.kind === 'wake') {
      const slices = body.intents.length + body.missed.length;
      if (slices > 0) {
        const sum = grown(this.#planned, body.strategy, seq, () => ({
          strategy: body.strategy,
          slices: 0,
          records: [],
        }));
        sum.slices += slices;
      }
      if (body.finished !== undefined)
        this.#ended.push({ strategy: body.strategy, reason: body.finished, records: [seq] });
    } else if (body.kind === 'alert') {
      const sum = grown(this.#alerts, body.alert, seq, () => ({
        alert: body.alert,
        severity: body.severity,
        count: 0,
        records: [],
      }));
      sum.count += 1 + (body.others ?? 0);
    } else if (body.kind === 'started') this.#starts.push(seq);
  }

  #foldUntraded({ seq, body }: StoredRecord): void {
    const lost = untradedBy(body);
    if (lost === undefined) return;
    const { strategy, reason, slices } = lost;
    const sum = grown(this.#untraded, `${strategy} ${reason}`, seq, () => ({
      strategy,
      reason,
      slices: 0,
      looks: 0,
      records: [],
    }));
    sum.slices += slices;
    if (slices === 0) sum.looks += 1;
  }

  day(): Omit<Day, 'from' | 'until'> {
    return {
      planned: [...this.#planned.values()],
      traded: tradedOf([...this.#fills.values()]),
      untraded: [...this.#untraded.values()].toSorted((a, b) => b.slices - a.slices || b.looks - a.looks),
      ended: this.#ended,
      alerts: [...this.#alerts.values()],
      actions: this.#actions,
      doubts: this.#doubts.all(),
      starts: this.#starts,
    };
  }
}

/** The entry of this key, extended by one record. */
function grown<S extends Sum>(sums: Map<string, S>, key: string, seq: number, make: () => S): S {
  const sum = sums.get(key) ?? make();
  sums.set(key, sum);
  sum.records.push(seq);
  return sum;
}

/** The action of a person, or of the desk itself, in a record. */
export function actionOf({ seq, at, body }: StoredRecord): Action | undefined {
  const action = (what: string): Action | undefined =>
    'by' in body && 'why' in body ? { what, by: body.by, why: body.why, at, records: [seq] } : undefined;
  switch (body.kind) {
    case 'control':
      return action(`${body.parent ?? body.strategy ?? body.pair ?? 'the desk'} ${body.state}`);
    case 'override':
      return action(`request ${body.override} ${body.step} (${body.limit})`);
    case 'reload':
      return action(body.result === 'applied' ? 'strategies and limits reloaded' : 'reload refused');
    case 'person':
      // Signing in changes nothing.
      return body.step === 'signed_in' ? undefined : action(`${body.person} ${body.step} as ${body.role}`);
    case 'settings':
      // Reloads and people have their own records, and at a first start there is nothing to compare with.
      return body.cause === 'start' && body.changes.some(({ before }) => before !== undefined)
        ? action(`settings differ from those of the previous start: ${changesText(body.changes)}`)
        : undefined;
    case 'closing':
      return action(`books closed up to ${isoOf(body.until)}`);
    case 'resolved':
      return action(
        `order ${body.client_order_id} resolved as ${body.verdict === 'filled' ? 'traded' : 'not traded'}`,
      );
    default:
      return undefined;
  }
}

const CHANGES_SHOWN = 5;

function changesText(changes: readonly SettingChange[]): string {
  const more = changes.length - CHANGES_SHOWN;
  const shown = changes.slice(0, CHANGES_SHOWN).map(settingWords).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

const TEN_THOUSAND = ratio('10000');

function tradedOf(
  fills: readonly { readonly fill: FillRecord; readonly records: Records }[],
): readonly Traded[] {
  const groups = Map.groupBy(fills, ({ fill: { strategy, pair, side } }) => `${strategy} ${pair} ${side}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    let [size, amount, fees] = [NO_QUANTITY, NO_MONEY, NO_MONEY];
    let decided: Money | undefined = NO_MONEY;
    for (const { fill } of group) {
      size = add(size, quantity(fill.quantity));
      amount = add(amount, money(fill.amount));
      fees = add(fees, money(fill.fees));
      decided =
        decided === undefined || fill.decision_price === ''
          ? undefined
          : add(decided, cost(price(fill.decision_price), quantity(fill.quantity)));
    }
    const { strategy, pair, base, quote, side } = first.fill;
    return [
      {
        strategy,
        pair,
        base,
        quote,
        side,
        fills: group.length,
        quantity: text(size),
        amount: text(amount),
        fees: text(fees),
        averagePrice: size.isZero() ? '0' : text(significant(priceOf(amount, size), 6)),
        cost: decided === undefined || decided.isZero() ? undefined : costOf(side, amount, decided),
        records: group.flatMap(({ records }) => records),
      },
    ];
  });
}

function costOf(side: 'buy' | 'sell', amount: Money, decided: Money): NonNullable<Traded['cost']> {
  const lost = side === 'buy' ? subtract(amount, decided) : subtract(decided, amount);
  return {
    amount: text(roundEven(lost, 2)),
    bps: text(roundEven(scale(fraction(lost, decided), TEN_THOUSAND), 1)),
  };
}
