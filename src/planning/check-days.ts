import { add, approximate, fraction, NO_MONEY, roundUp, subtract } from '../core/money.ts';
import type { Money } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import { figure, openSlices, sumOf, worthOf } from './plan.ts';
import type { Check, PlanFacts, PlannedSlice, PlannedStrategy } from './plan.ts';

/** Compares the total of each UTC day with the limits of a day. */
export function checkDays(strategies: readonly PlannedStrategy[], facts: PlanFacts): readonly Check[] {
  const { limits, traded } = facts;
  const slices = openSlices(strategies).map((slice) => ({ slice, notional: worthOf(slice, facts).notional }));
  const unpriced = new Set(
    slices.filter(({ notional }) => notional === undefined).map(({ slice }) => slice.pair),
  );
  const found: Check[] = [...unpriced].map((pair) => ({
    check: 'day',
    verdict: 'not_done',
    says: `the share of ${pair} in controls.max_day_notional needs its price: give --price ${pair}=…`,
  }));
  const priced = slices.flatMap(({ slice, notional }) =>
    notional === undefined ? [] : [{ slice, notional }],
  );
  const days = Map.groupBy(priced, ({ slice }) => isoOf(slice.at).slice(0, 10));
  let highest: { readonly day: string; readonly total: Money } | undefined;
  for (const [day, of] of days) {
    const before = traded?.day === day ? traded : undefined;
    const total = add(before?.total ?? NO_MONEY, sumOf(of.map(({ notional }) => notional)));
    if (highest === undefined || total.gt(highest.total)) highest = { day, total };
    found.push(
      ...beyond(day, of, {
        setting: 'max_day_notional',
        most: limits.dayNotionalMax,
        unit: limits.currency,
        before: before?.total ?? NO_MONEY,
      }),
    );
    for (const [pair, ofPair] of Map.groupBy(of, ({ slice }) => slice.pair)) {
      const most = limits.pairDayNotionalMax.get(pair);
      if (most === undefined) continue;
      found.push(
        ...beyond(day, ofPair, {
          setting: `max_pair_day_notional.${pair}`,
          most,
          unit: limits.currency,
          before: before?.ofPair(pair) ?? NO_MONEY,
        }),
      );
    }
  }
  if (found.length > 0 || highest === undefined) return found;
  const { day, total } = highest;
  const says = `at most ${figure(total)} ${limits.currency} in one UTC day (${day}), of ${figure(limits.dayNotionalMax)}; ${soFar(traded)}`;
  return [{ check: 'day', verdict: 'ok', says }];
}

const soFar = (traded: PlanFacts['traded']): string =>
  traded === undefined
    ? 'without a journal, trades of today are unknown'
    : `this includes ${figure(traded.total)} traded today`;

interface Bound {
  readonly setting: string;
  readonly most: Money;
  readonly unit: string;
  /** Already traded on that day. */
  readonly before: Money;
}

function beyond(
  day: string,
  of: readonly { readonly slice: PlannedSlice; readonly notional: Money }[],
  { setting, most, unit, before }: Bound,
): readonly Check[] {
  const total = add(before, sumOf(of.map(({ notional }) => notional)));
  if (total.lte(most)) return [];
  const shares = [...Map.groupBy(of, ({ slice }) => slice.strategy)].map(([id, own]) => ({
    id,
    share: sumOf(own.map(({ notional }) => notional)),
  }));
  const [largest] = shares.toSorted((a, b) => b.share.comparedTo(a.share));
  const days = approximate(roundUp(fraction(total, most), 0));
  return [
    {
      check: 'day',
      verdict: 'refused',
      strategy: shares.length === 1 ? largest?.id : undefined,
      says: `${day} (UTC) adds up to ${figure(total)} ${unit} at worst${before.gt(0) ? `, ${figure(before)} of it traded already` : ''}, above controls.${setting} of ${figure(most)} ${unit}`,
      fix: `trade ${figure(subtract(total, most))} ${unit} less on that day (largest: ${largest?.id ?? ''} with ${figure(largest?.share ?? total)}), or spread it over ${days} days`,
    },
  ];
}
