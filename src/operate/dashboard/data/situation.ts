import type { Alert, Status } from './shapes.ts';
import { clockTime, count, duration } from './format.ts';

/** What a person must see at a glance. */
export interface Situation {
  readonly level: 'good' | 'attention' | 'bad' | 'unknown';
  readonly sentence: string;
  /** The reasons behind it, most urgent first. */
  readonly reasons: readonly string[];
  /** The one thing to do; absent if there is nothing to do. */
  readonly action?: { readonly words: string; readonly href?: string; readonly runbook?: string } | undefined;
}

interface Known {
  readonly status: Status | undefined;
  readonly isLost: boolean;
  /** Seconds since the last message from the desk. */
  readonly silenceS: number;
  /** Active alerts, with what to do; most urgent first. */
  readonly alerts: readonly Alert[];
  /** Requests that wait for the signed-in person. */
  readonly approvals: number;
}

/** Judges the desk. An unknown state never counts as healthy. */
export function situationOf({ status, isLost, silenceS, alerts, approvals }: Known): Situation {
  if (status === undefined) {
    return isLost
      ? {
          level: 'unknown',
          sentence: 'The desk does not respond. Its state is unknown.',
          reasons: [],
          action: { words: LOST },
        }
      : { level: 'unknown', sentence: 'Loading the desk…', reasons: [] };
  }
  const told = alerts.filter(({ severity }) => severity !== 'info');
  const critical = told.filter(({ severity }) => severity === 'critical');
  const doubts = status.open_doubts?.length ?? 0;
  const reasons = [
    ...status.not_ready,
    ...told.map(({ says, alert }) => says ?? alert.replaceAll('_', ' ')),
    ...(status.waiting ?? []),
  ];
  const first = told[0];
  const does = first && adviceOf(first);
  const advice =
    does === undefined
      ? undefined
      : { words: does, ...(first?.runbook === undefined ? {} : { runbook: first.runbook }) };
  if (isLost)
    return {
      level: 'unknown',
      sentence: `The desk has not reported for ${duration(silenceS)}. This page shows its last report.`,
      reasons,
      action: { words: LOST },
    };
  if (status.state === 'halted')
    return {
      level: 'bad',
      sentence: `Halted${by(status)}. No order leaves.`,
      // Omits facts that the sentence already states, and describes actions in the words of this page.
      reasons: [
        ...(status.why === undefined ? [] : [`Reason: ${status.why}`]),
        ...status.not_ready.filter((reason) => !reason.startsWith('halted')),
        ...told.flatMap(({ says, alert }) =>
          alert === 'halted' ? [] : [says ?? alert.replaceAll('_', ' ')],
        ),
        ...(status.waiting ?? []),
      ],
      action: {
        words:
          doubts > 0
            ? 'Resolve the open doubts, find the cause, then re-arm the desk below.'
            : 'Find the cause, then re-arm the desk below.',
        ...(doubts > 0 ? { href: '#/doubts' } : {}),
        ...(advice?.runbook === undefined ? {} : { runbook: advice.runbook }),
      },
    };
  if (doubts > 0)
    return {
      level: 'bad',
      sentence: `${count(doubts, 'order has', 'orders have')} an unknown outcome. Its size stays reserved until the account proves what happened.`,
      reasons,
      action: {
        words:
          'Open the doubts: each shows when it can be proven. The desk usually proves it without your help.',
        href: '#/doubts',
      },
    };
  if (critical.length > 0)
    return {
      level: 'bad',
      sentence: `${sentenceOf(critical[0])}.`,
      reasons: reasons.slice(1),
      action: advice,
    };
  if (status.state === 'paused' || status.state === 'reducing')
    return {
      level: 'attention',
      sentence:
        status.state === 'paused'
          ? `Paused${by(status)}. No new slice starts.`
          : `Reducing${by(status)}. Only orders that reduce a borrowed balance leave.`,
      reasons: [...(status.why === undefined ? [] : [`Reason: ${status.why}`]), ...reasons],
      action: advice ?? { words: 'Resume the desk below once the reason is gone.' },
    };
  if (status.not_ready.length > 0)
    return {
      level: 'attention',
      sentence: 'Not ready to trade.',
      reasons,
      action: advice ?? { words: 'Wait: the desk retries automatically. See the reasons below.' },
    };
  if (told.length > 0)
    return {
      level: 'attention',
      sentence: `${sentenceOf(first)}.`,
      reasons: reasons.slice(1),
      action: advice,
    };
  const calls =
    approvals === 0
      ? undefined
      : {
          words: `${count(approvals, 'request is', 'requests are')} waiting for your approval.`,
          href: '#/approvals',
        };
  if (status.is_stopping === true)
    return { level: 'attention', sentence: 'The desk is stopping.', reasons, action: calls };
  return {
    level: approvals > 0 ? 'attention' : 'good',
    sentence:
      approvals > 0
        ? 'Everything is in order; a request waits for your decision.'
        : 'Everything is in order.',
    reasons,
    action: calls,
  };
}

/** Advice about an alert: an action on this page if there is one. */
export const adviceOf = ({ on_dashboard: here, does }: Alert): string | undefined => here ?? does;

const LOST =
  'Check that the machine and its network are up. The desk may still be trading: to stop it, run tranche halt on its machine.';

const by = ({ by: who, since }: Status): string =>
  `${since === undefined ? '' : ` since ${clockTime(since)} UTC`}${who === undefined ? '' : ` by ${who}`}`;

const sentenceOf = (alert: Alert | undefined): string => {
  const says = alert?.says ?? alert?.alert.replaceAll('_', ' ') ?? '';
  return says.charAt(0).toUpperCase() + says.slice(1);
};
