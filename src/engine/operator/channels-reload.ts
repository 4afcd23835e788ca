import type { ReloadedChannels, ReloadedSettings } from '../state/strategy-source.ts';
import { mayChange } from './reload-approvals.ts';
import type { ReloadApprovalsContext, Verdict } from './reload-approvals.ts';
import type { ReloadedBy } from './strategy-approvals.ts';

/** The effect of a reload on the notification channels. */
export interface PlannedChannels extends Pick<Verdict, 'wish' | 'approval'> {
  /** The changes in words; if there are none, the channels stay as they are. */
  readonly changes: readonly string[];
  /** Changes in the file that are refused, and why. */
  readonly kept: readonly string[];
  /** The new channels as the journal records them. */
  readonly settings?: ReloadedSettings | undefined;
  /** Activates the new channels. */
  readonly use?: (() => void) | undefined;
}

/** Replaces the channels in use with those of the file, unless that needs approval. */
export function planChannels(
  desk: ReloadApprovalsContext,
  channels: ReloadedChannels | undefined,
  asker: ReloadedBy,
): PlannedChannels {
  if (channels === undefined || channels.changes.length === 0) return { changes: [], kept: [] };
  const { changes: difference, subject, settings, use } = channels;
  const { why, wish, approval } = mayChange(
    desk,
    {
      request: 'channels',
      asks: `change operate.notify: ${difference.join(', ')}`,
      difference,
      subject,
      unasked: 'channels change only on request: run tranche reload',
    },
    asker,
  );
  return why === undefined
    ? { changes: difference, kept: [], settings, use, approval }
    : { changes: [], kept: difference.map((words) => `${words}: ${why}`), wish };
}

/** Describes each channel on one line. */
export const channelLines = ({ changes, kept }: PlannedChannels): readonly string[] => [
  ...changes.map((words) => `  operate.notify ${words}`),
  ...kept.map((words) => `  operate.notify is NOT changed: ${words}`),
];
