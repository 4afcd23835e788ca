import type { ReloadedChannels } from '../state/strategy-source.ts';
import { mayChange } from './reload-approvals.ts';
import type { ReloadApprovalsContext, Verdict } from './reload-approvals.ts';
import type { ReloadedBy } from './strategy-approvals.ts';

/** What a reload makes of the channels to people. */
export interface PlannedChannels extends Pick<Verdict, 'wish' | 'approval'> {
  /** What changes, in words; none: the channels stay as they are. */
  readonly changes: readonly string[];
  /** What the file would change, and why it is not. */
  readonly kept: readonly string[];
  /** Puts them in force. */
  readonly use?: (() => void) | undefined;
}

/** Channels of the file in place of those in use, where nobody else must agree. */
export function planChannels(
  desk: ReloadApprovalsContext,
  channels: ReloadedChannels | undefined,
  asker: ReloadedBy,
): PlannedChannels {
  if (channels === undefined || channels.changes.length === 0) return { changes: [], kept: [] };
  const { changes: difference, subject, use } = channels;
  const { why, wish, approval } = mayChange(
    desk,
    {
      request: 'channels',
      asks: `change operate.notify: ${difference.join(', ')}`,
      difference,
      subject,
      unasked: 'channels change only when somebody asks for it: tranche reload',
    },
    asker,
  );
  return why === undefined
    ? { changes: difference, kept: [], use, approval }
    : { changes: [], kept: difference.map((words) => `${words}: ${why}`), wish };
}

/** A line for each channel, for people. */
export const channelLines = ({ changes, kept }: PlannedChannels): readonly string[] => [
  ...changes.map((words) => `  operate.notify ${words}`),
  ...kept.map((words) => `  operate.notify is NOT changed: ${words}`),
];
