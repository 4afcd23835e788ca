import type { Severity } from '../../core/alerts.ts';
import { SECOND_MS, isoOf, spanText } from '../../core/time.ts';
import { foreign } from '../notify/notice.ts';
import type { Probe } from './probe.ts';

/** Limits after which something counts as wrong, ms. */
export interface WatchLimits {
  /** Without a response, or not ready. */
  readonly silentMs: number;
  /** Since the last read of the account. */
  readonly dataAgeMs: number;
  /** Since a strategy was due without a new record. */
  readonly stuckMs: number;
  readonly clockMs: number;
}

export const conditionKinds = [
  'silent',
  'not_ready',
  'refused',
  'old_data',
  'stuck',
  'head_went_back',
  'alerts',
  'clock',
] as const;
export type ConditionKind = (typeof conditionKinds)[number];

/** A condition that is wrong with a desk now. */
export interface Condition {
  readonly kind: ConditionKind;
  readonly severity: Severity;
  readonly says: string;
  readonly lines: readonly string[];
  /** How long it may last before people are notified, ms. */
  readonly graceMs: number;
}

/** All conditions found by one probe. `headBefore`: the highest record number ever seen. */
export function conditionsOf(probe: Probe, limits: WatchLimits, headBefore: number): readonly Condition[] {
  const { silentMs } = limits;
  if (probe.dead !== undefined)
    return [
      {
        kind: 'silent',
        severity: 'critical',
        says: 'does not respond',
        lines: [
          `why: ${foreign(probe.dead)}`,
          'what to do: check that its process runs and its host is reachable, and read the end of its log. A desk that is down does not trade; the next start resolves open orders.',
        ],
        graceMs: silentMs,
      },
    ];
  return [...readiness(probe, silentMs), ...clockOf(probe, limits), ...statusOf(probe, limits, headBefore)];
}

function readiness({ notReady = [] }: Probe, graceMs: number): readonly Condition[] {
  if (notReady.length === 0) return [];
  const lines = notReady.slice(0, 10).map((reason) => foreign(reason));
  return [{ kind: 'not_ready', severity: 'warning', says: 'cannot trade', lines, graceMs }];
}

function clockOf({ clock }: Probe, { clockMs, silentMs }: WatchLimits): readonly Condition[] {
  if (clock === undefined || Math.abs(clock.aheadMs) - clock.marginMs <= clockMs) return [];
  const side = clock.aheadMs > 0 ? 'ahead of' : 'behind';
  return [
    {
      kind: 'clock',
      severity: 'warning',
      says: `has a clock that is ${spanText(Math.abs(clock.aheadMs))} ${side} the watchman's clock`,
      lines: ['what to do: check NTP on both hosts.'],
      graceMs: silentMs,
    },
  ];
}

function statusOf(probe: Probe, limits: WatchLimits, headBefore: number): readonly Condition[] {
  const { status } = probe;
  if (status === undefined) return [];
  if ('refused' in status)
    return [
      {
        kind: 'refused',
        severity: 'warning',
        says: "refuses the watchman's requests",
        lines: [`why: ${foreign(status.refused)}`, "what to do: check the watchman's token."],
        graceMs: limits.silentMs,
      },
    ];
  const about = `desk ${foreign(status.desk)}, ${foreign(status.mode)}, ${foreign(status.state)}`;
  const found: Condition[] = [];
  const { dataAgeS, recordAgeS, nextAt, head, criticalAlerts = [] } = status;
  if (dataAgeS !== undefined && dataAgeS * SECOND_MS > limits.dataAgeMs)
    found.push({
      kind: 'old_data',
      severity: 'warning',
      says: `has not read its account for ${spanText(dataAgeS * SECOND_MS)}`,
      lines: [about, "what to do: check the venue and the desk's network."],
      graceMs: 0,
    });
  const isDue = nextAt !== undefined && probe.at - nextAt > limits.stuckMs;
  const isStill = recordAgeS !== undefined && recordAgeS * SECOND_MS > limits.stuckMs;
  if (status.state === 'active' && isDue && isStill)
    found.push({
      kind: 'stuck',
      severity: 'critical',
      says: 'has written no record although a strategy is due',
      lines: [
        about,
        `due: ${isoOf(nextAt)}; newest record: ${spanText(recordAgeS * SECOND_MS)} ago`,
        'what to do: check its log and its CPU load; tranche status shows what is waiting.',
      ],
      graceMs: 0,
    });
  if (head !== undefined && head < headBefore)
    found.push({
      kind: 'head_went_back',
      severity: 'critical',
      says: `has a journal that ends with record ${head}; it had reached record ${headBefore}`,
      lines: [
        about,
        'what to do: find out whether an older copy was restored, or another journal is in use. See journal_rolled_back in the runbook.',
      ],
      graceMs: 0,
    });
  if (criticalAlerts.length > 0)
    found.push({
      kind: 'alerts',
      severity: 'critical',
      says: 'has critical alerts',
      lines: [about, ...criticalAlerts.slice(0, 10).map((alert) => foreign(alert))],
      graceMs: limits.silentMs,
    });
  return found;
}
