import { outgoing } from '../../core/cycle/balance-changes.ts';
import { add, NO_QUANTITY, quantity, subtract, text } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { DAY_MS, instant, isoOf } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import type { AnswerOf } from '../../operate/api/desk-reads.ts';

type LimitRow = AnswerOf<'/api/v1/limits'>['items'][number];

/** Returns each limit in force with its usage. Orders in flight, doubts and missing parts of fills count at their worst case. */
export function limitRows(desk: Desk): readonly LimitRow[] {
  const { limits } = desk.policy;
  const { currency } = limits;
  const { state } = desk;
  const today = desk.limitDay.now();
  const since = isoOf(instant(Math.floor(today / DAY_MS) * DAY_MS));
  const ofDay = (limit: string, max: Money, pair?: string): LimitRow => {
    const open = state.openNotional(pair);
    const used = add(state.totals.dayNotional(today, pair), open);
    return { limit, scope: pair, used: text(used), in_doubt: text(open), max: text(max), currency, since };
  };
  const bare = (limit: string, max: string | undefined, over: Partial<LimitRow> = {}): readonly LimitRow[] =>
    max === undefined ? [] : [{ limit, max, ...over }];
  const figure = (max: { toFixed: () => string } | undefined): string | undefined => max?.toFixed();
  return [
    ...(limits.dayNotionalMax === undefined ? [] : [ofDay('max_day_notional', limits.dayNotionalMax)]),
    ...[...(limits.pairDayNotionalMax ?? [])].map(([pair, max]) => ofDay('max_pair_day_notional', max, pair)),
    {
      limit: 'max_open_doubts',
      used: String(state.doubts.length),
      in_doubt: String(state.doubts.length),
      max: String(limits.openDoubtsMax),
    },
    ...(limits.dayCostMax === undefined
      ? []
      : [
          {
            limit: 'max_day_cost',
            used: text(state.totals.dayCost(today)),
            max: text(limits.dayCostMax),
            currency,
            since,
          },
        ]),
    ...[...(limits.positionMin ?? [])].map(([held, max]) => positionRow(desk, held, max, true)),
    ...[...(limits.positionMax ?? [])].map(([held, max]) => positionRow(desk, held, max, false)),
    ...bare('max_order_notional', figure(limits.orderNotionalMax), { currency }),
    ...[...limits.orderQuantityMax].flatMap(([pair, max]) =>
      bare('max_order_quantity', figure(max), { scope: pair }),
    ),
    ...bare('collar_bps', figure(limits.collarBps)),
    ...bare('max_drift_bps', figure(limits.driftBpsMax)),
    ...bare('max_shortfall_bps', figure(limits.shortfallBpsMax)),
    ...bare('max_executions_per_minute', limits.minuteExecutionsMax?.toFixed()),
    ...bare('max_executions_per_parent', limits.parentExecutionsMax?.toFixed()),
  ];
}

/** Returns the row of a balance limit, with the lowest or highest balance that all orders in flight can produce. */
function positionRow(desk: Desk, currency: string, max: Quantity, isFloor: boolean): LimitRow {
  const { state } = desk;
  const name = isFloor ? 'min_position' : 'max_position';
  const fixed = { limit: name, scope: currency, max: text(max), currency, ...(isFloor ? { is_floor: true } : {}) }; // prettier-ignore
  const held = state.balances?.get(currency) ?? NO_QUANTITY;
  if (state.balances === undefined) return fixed;
  const open = isFloor ? state.reserved(currency) : incoming(desk, currency);
  const used = isFloor ? subtract(held, open) : add(held, open);
  return { ...fixed, used: text(used), in_doubt: text(open) };
}

/** Returns the most that attempts in progress may bring. Converts a size in the other currency at the reference price. */
function incoming({ state }: Desk, currency: string): Quantity {
  let sum = NO_QUANTITY;
  for (const { intent } of state.attempts.values()) {
    const { side, base, quote, by, size, reference_price: reference } = intent;
    if ((side === 'buy' ? base : quote) !== currency) continue;
    const isOwnUnit = (side === 'buy') === (by === 'quantity');
    const size_ = quantity(size);
    const price = quantity(reference);
    if (isOwnUnit) sum = add(sum, size_);
    else sum = add(sum, quantity((side === 'buy' ? size_.div(price) : size_.times(price)).toFixed(18)));
  }
  return sum;
}

/** Returns the most that an order may take from the balance of a currency. */
export const reserveOf = (
  intent: Parameters<typeof outgoing>[0],
): { readonly currency: string; readonly amount: string } => {
  const currency = intent.side === 'buy' ? intent.quote : intent.base;
  return { currency, amount: text(outgoing(intent, currency)) };
};
