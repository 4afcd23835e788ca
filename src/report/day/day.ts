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
import type { Instant } from '../../core/time.ts';

/** What a desk did between two moments, from its records alone: plain JSON, amounts as text. */
export interface Day {
  readonly from: Instant;
  readonly until: Instant;
  readonly traded: readonly Traded[];
  readonly untraded: readonly UntradedSum[];
  readonly ended: readonly { readonly strategy: string; readonly reason: Reason }[];
  readonly alerts: readonly { readonly alert: string; readonly severity: Severity; readonly count: number }[];
  /** Halts, pauses and what ended them: of the desk, or of a part of it. */
  readonly controls: readonly { readonly what: string; readonly by: string; readonly at: Instant }[];
  readonly doubts: { readonly opened: number; readonly ended: number };
  readonly starts: number;
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
  /** Against the reference price when each parent was decided, without fees; positive is bad. Absent where a fill has no such price. */
  readonly cost?: { readonly amount: string; readonly bps: string } | undefined;
}

export interface UntradedSum {
  readonly strategy: string;
  readonly reason: Reason;
  /** Slices that did not trade. */
  readonly slices: number;
  /** Looks that led to none. */
  readonly looks: number;
}

/** Folds records, oldest first; those outside of the period count for nothing. */
export function dayOf(
  records: Iterable<StoredRecord>,
  { from, until }: { readonly from: Instant; readonly until: Instant },
): Day {
  const fills = new Map<string, FillRecord>();
  const untraded = new Map<string, { strategy: string; reason: Reason; slices: number; looks: number }>();
  const alerts = new Map<string, { alert: string; severity: Severity; count: number }>();
  const ended: { strategy: string; reason: Reason }[] = [];
  const controls: { what: string; by: string; at: Instant }[] = [];
  const doubts = new Set<string>();
  const count = { opened: 0, ended: 0, starts: 0 };
  for (const { at, body } of records) {
    if (at < from || at >= until) continue;
    const lost = untradedBy(body);
    if (lost !== undefined) {
      const key = `${lost.strategy} ${lost.reason}`;
      const sum = untraded.get(key) ?? { strategy: lost.strategy, reason: lost.reason, slices: 0, looks: 0 };
      sum.slices += lost.slices;
      if (lost.slices === 0) sum.looks += 1;
      untraded.set(key, sum);
    }
    if (body.kind === 'fill') fills.set(body.client_order_id, body);
    else if (body.kind === 'correction') {
      const fill = fills.get(body.client_order_id);
      if (fill !== undefined) fills.set(body.client_order_id, corrected(fill, body));
    } else if (body.kind === 'wake' && body.finished !== undefined)
      ended.push({ strategy: body.strategy, reason: body.finished });
    else if (body.kind === 'alert') {
      const sum = alerts.get(body.alert) ?? { alert: body.alert, severity: body.severity, count: 0 };
      sum.count += 1 + (body.others ?? 0);
      alerts.set(body.alert, sum);
    } else if (body.kind === 'control') {
      const { parent, pair, strategy, state, by } = body;
      controls.push({ what: `${parent ?? strategy ?? pair ?? 'the desk'} ${state}`, by, at });
    } else if (body.kind === 'attempt') {
      if (body.result === 'doubt') {
        count.opened += doubts.has(body.client_order_id) ? 0 : 1;
        doubts.add(body.client_order_id);
      } else if (doubts.delete(body.client_order_id)) count.ended += 1;
    } else if (body.kind === 'started') count.starts += 1;
  }
  return {
    from,
    until,
    traded: tradedOf([...fills.values()]),
    untraded: [...untraded.values()].toSorted((a, b) => b.slices - a.slices || b.looks - a.looks),
    ended,
    alerts: [...alerts.values()],
    controls,
    doubts: { opened: count.opened, ended: count.ended },
    starts: count.starts,
  };
}

const TEN_THOUSAND = ratio('10000');

function tradedOf(fills: readonly FillRecord[]): readonly Traded[] {
  const groups = Map.groupBy(fills, ({ strategy, pair, side }) => `${strategy} ${pair} ${side}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    let [size, amount, fees] = [NO_QUANTITY, NO_MONEY, NO_MONEY];
    let decided: Money | undefined = NO_MONEY;
    for (const fill of group) {
      size = add(size, quantity(fill.quantity));
      amount = add(amount, money(fill.amount));
      fees = add(fees, money(fill.fees));
      decided =
        decided === undefined || fill.decision_price === ''
          ? undefined
          : add(decided, cost(price(fill.decision_price), quantity(fill.quantity)));
    }
    const { strategy, pair, base, quote, side } = first;
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
