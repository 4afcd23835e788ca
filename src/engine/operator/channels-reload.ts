import type { ReloadedChannels, ReloadedSettings } from '../state/strategy-source.ts';

/** The effect of a reload on the notification channels. */
export interface PlannedChannels {
  /** The changes in words; if there are none, the channels stay as they are. */
  readonly changes: readonly string[];
  /** Changes in the file that are refused, and why. */
  readonly kept: readonly string[];
  /** The new channels as the journal records them. */
  readonly settings?: ReloadedSettings | undefined;
  /** Activates the new channels. */
  readonly use?: (() => void) | undefined;
}

const UNASKED = 'channels change only on request: run tranche reload';

/** Replaces the channels in use with those of the file, if a person reloads. */
export function planChannels(channels: ReloadedChannels | undefined, by: string): PlannedChannels {
  if (channels === undefined) return { changes: [], kept: [] };
  const { changes, settings, use } = channels;
  if (changes.length === 0) return { changes, kept: [] };
  return by === 'tranche'
    ? { changes: [], kept: changes.map((words) => `${words}: ${UNASKED}`) }
    : { changes, kept: [], settings, use };
}

/** Describes each channel on one line. */
export const channelLines = ({ changes, kept }: PlannedChannels): readonly string[] => [
  ...changes.map((words) => `  operate.notify ${words}`),
  ...kept.map((words) => `  operate.notify is NOT changed: ${words}`),
];
