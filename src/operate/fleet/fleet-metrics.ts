import { Gauge, Registry } from 'prom-client';
import { approximate, money } from '../../core/money.ts';
import type { FirmLimitRow, FleetRow } from './totals.ts';

/** Maximum number of desks in the metrics, because the values of a label must be bounded. */
const DESKS_MAX = 500;
const LIMITS_MAX = 200;

export interface FleetMetrics {
  /** Replaces the figures of all desks; `undefined` means that the store did not respond, so the outdated figures are removed. */
  show(desks: readonly FleetRow[] | undefined, limits: readonly FirmLimitRow[] | undefined): void;
  text(): Promise<string>;
  readonly contentType: string;
}

/** A daemon's metrics about the desks of its fleet. `docs/metrics.md` explains each figure. */
export function createFleetMetrics(daemon: string, registry = new Registry()): FleetMetrics {
  registry.setDefaultLabels({ daemon });
  const storeUp = new Gauge({
    name: 'tranche_fleet_store_up',
    help: '1 when the store answered this scrape',
    registers: [registry],
  });
  const gaugeOf = ([name, help, figure]: Figure) => ({
    gauge: new Gauge({ name, help, labelNames: ['desk', 'mode'], registers: [registry] }),
    figure,
  });
  const gauges = FIGURES.map(gaugeOf);
  const firmOf = (name: string, help: string): Gauge<'mode' | 'limit' | 'scope'> =>
    new Gauge({ name, help, labelNames: ['mode', 'limit', 'scope'], registers: [registry] });
  const firm = {
    used: firmOf('tranche_fleet_limit_used', 'use of a limit of the firm by all desks of the mode'),
    max: firmOf('tranche_fleet_limit_max', 'a limit of the firm'),
  };
  return {
    show(desks, limits) {
      storeUp.set(Number(desks !== undefined));
      for (const { gauge, figure } of gauges) {
        gauge.reset();
        for (const desk of desks?.slice(0, DESKS_MAX) ?? []) {
          const value = figure(desk);
          if (value !== undefined) gauge.set({ desk: desk.name, mode: desk.mode ?? 'unknown' }, value);
        }
      }
      for (const side of ['used', 'max'] as const) {
        firm[side].reset();
        for (const { mode, limit, scope = '', [side]: amount } of limits?.slice(0, LIMITS_MAX) ?? [])
          firm[side].set({ mode, limit, scope }, approximate(money(amount)));
      }
    },
    text: async () => await registry.metrics(),
    contentType: registry.contentType,
  };
}

type Figure = readonly [name: string, help: string, figure: (desk: FleetRow) => number | undefined];

const FIGURES: readonly Figure[] = [
  ['tranche_fleet_desk_owned', '1 when a process holds the lease of the desk', ({ owner }) => Number(owner !== undefined)],
  ['tranche_fleet_desk_hibernating', '1 when the desk has nothing to do and no process', ({ hibernates_until: until }) => Number(until !== undefined)],
  ['tranche_fleet_desk_ready', '1 when the desk can trade', ({ not_ready: reasons }) => Number(reasons.length === 0)],
  ['tranche_fleet_desk_halted', '1 when the desk is halted', ({ state }) => Number(state === 'halted')],
  ['tranche_fleet_desk_open_doubts', 'orders whose outcome is unknown', ({ open_doubts: doubts }) => doubts],
  ['tranche_fleet_desk_open_alerts', 'alerts that hold', ({ open_alerts: alerts }) => alerts.length],
  ['tranche_fleet_desk_fills', 'fills in the journal', ({ fills }) => fills],
  ['tranche_fleet_desk_epoch', 'number of owners so far', ({ epoch }) => epoch],
  ['tranche_fleet_desk_head', 'number of the newest record', ({ head }) => head],
  ['tranche_fleet_desk_record_age_seconds', 'time since the newest record', ({ last_record_age_s: age }) => age],
  ['tranche_fleet_desk_silent_seconds', 'time since the report of the owner, when the report is too old', ({ silent_s: silent }) => silent],
]; // prettier-ignore
