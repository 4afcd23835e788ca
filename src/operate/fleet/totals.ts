import type { z } from 'zod';
import { add, money, text } from '../../core/money.ts';
import type { firmLimit, fleet, fleetTotals } from '../api/schema-desk.ts';

export type FleetRow = z.input<typeof fleet>;
/** A firm limit. */
export type FirmLimitRow = z.input<typeof firmLimit>;
export type FleetTotals = z.input<typeof fleetTotals>;

/** Sums over the desks of each mode. Neither modes nor currencies are ever added up. */
export function totalsOf(desks: readonly FleetRow[]): Readonly<Record<string, FleetTotals>> {
  const modes = Map.groupBy(desks, ({ mode }) => mode);
  return Object.fromEntries(
    [...modes].flatMap(([mode, those]) => (mode === undefined ? [] : [[mode, totalOf(those)]])),
  );
}

function totalOf(desks: readonly FleetRow[]): FleetTotals {
  const count = (figure: (desk: FleetRow) => number): number =>
    desks.reduce((total, desk) => total + figure(desk), 0);
  return {
    desks: desks.length,
    owned: count(({ owner }) => Number(owner !== undefined)),
    ready: count(({ not_ready: reasons }) => Number(reasons.length === 0)),
    open_doubts: count(({ open_doubts: doubts = 0 }) => doubts),
    open_alerts: count(({ open_alerts: alerts }) => alerts.length),
    fills: count(({ fills = 0 }) => fills),
    day_notional: sums(desks.map(({ day_notional: day }) => (day === undefined ? {} : { [day.currency]: day.used }))), // prettier-ignore
    holdings: sums(desks.map(({ holdings = {} }) => holdings)),
  };
}

/** Sums amounts by currency. */
function sums(all: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const total: Record<string, string> = {};
  for (const [currency, amount] of all.flatMap((one) => Object.entries(one)))
    total[currency] = text(add(money(total[currency] ?? '0'), money(amount)));
  return total;
}
