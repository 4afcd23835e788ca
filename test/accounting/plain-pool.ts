import type { AccountingEvent } from '../../src/accounting/events.ts';
import type { Instant } from '../../src/core/time.ts';

/**
 * Share pooling as plainly as can be: it looks ahead, works on whole days of one asset after the other, and shares no code with the books. Amounts
 * are whole numbers of 10⁻³⁰.
 */
const ONE = 10n ** 30n;
/** Costs of parts have 12 decimals. */
const STEP = 10n ** 18n;

interface Day {
  readonly day: number;
  bought: bigint;
  cost: bigint;
  sold: bigint;
  proceeds: bigint;
  /** Transfers. */
  moved: bigint;
  movedCost: bigint;
  identified: bigint;
}

export interface PlainPools {
  /** By day of the disposals, without days that gained nothing. */
  readonly gains: Readonly<Record<string, string>>;
  /** `units currency for cost`, without empty ones. */
  readonly pools: readonly string[];
}

export function plainPool(
  events: readonly AccountingEvent[],
  {
    dayOf,
    priceOf,
  }: { readonly dayOf: (at: Instant) => number; readonly priceOf: (currency: string) => string },
): PlainPools {
  const assets = new Map<string, Map<number, Day>>();
  const corrected = new Map(
    events.flatMap((each) => (each.type === 'correction' ? [[each.id, each] as const] : [])),
  );
  for (const event of events) {
    if (event.type === 'correction') continue;
    const day = dayOf(event.at);
    const days = entryOf(assets, 'base' in event ? event.base : event.currency, () => new Map<number, Day>());
    const today = entryOf(days, day, () => ({ day, bought: 0n, cost: 0n, sold: 0n, proceeds: 0n, moved: 0n, movedCost: 0n, identified: 0n })); // prettier-ignore
    if (event.type === 'trade') {
      const { quantity, amount } = corrected.get(event.id) ?? event;
      const [units, value] = [read(quantity.toFixed()), read(amount.toFixed())];
      if (event.side === 'buy') [today.bought, today.cost] = [today.bought + units, today.cost + value];
      else [today.sold, today.proceeds] = [today.sold + units, today.proceeds + value];
    } else {
      const units = read(event.quantity.toFixed());
      today.moved += units;
      today.movedCost += (units * read(priceOf(event.currency))) / ONE;
    }
  }
  const gains = new Map<number, bigint>();
  const pools: string[] = [];
  for (const [currency, byDay] of assets) {
    const days = [...byDay.values()].toSorted((a, b) => a.day - b.day);
    const take = (from: Day, of: Day): void => {
      const units = from.bought < of.sold ? from.bought : of.sold;
      if (units === 0n) return;
      const cost = part(from.cost, units, from.bought);
      [from.bought, from.cost] = [from.bought - units, from.cost - cost];
      [of.sold, of.identified] = [of.sold - units, of.identified + cost];
    };
    for (const day of days) take(day, day);
    for (const sale of days)
      for (const purchase of days)
        if (purchase.day > sale.day && purchase.day <= sale.day + 30) take(purchase, sale);
    let [units, cost] = [0n, 0n];
    for (const day of days) {
      units += day.bought + day.moved;
      cost += day.cost + day.movedCost;
      const left = part(cost, day.sold, units);
      [units, cost] = [units - day.sold, cost - left];
      if (day.proceeds === 0n) continue;
      gains.set(day.day, (gains.get(day.day) ?? 0n) + day.proceeds - day.identified - left);
    }
    if (units !== 0n) pools.push(`${written(units)} ${currency} for ${written(cost)}`);
  }
  return {
    gains: Object.fromEntries(
      [...gains].map(([day, gain]) => [new Date(day * 86_400_000).toISOString().slice(0, 10), written(gain)]),
    ),
    pools: pools.toSorted(),
  };
}

/** The share of a cost, 12 decimals, halves to even. */
function part(cost: bigint, units: bigint, whole: bigint): bigint {
  if (units === whole) return cost;
  const [numerator, denominator] = [cost * units, whole * STEP];
  const down = numerator / denominator;
  const rest = (numerator % denominator) * 2n;
  const isUp = rest > denominator || (rest === denominator && down % 2n === 1n);
  return (isUp ? down + 1n : down) * STEP;
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

function read(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole + decimals.padEnd(30, '0'));
}

function written(amount: bigint): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(31, '0');
  return `${sign}${digits.slice(0, -30)}.${digits.slice(-30)}`.replace(/\.?0+$/u, '') || '0';
}
