import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { WhyEntry } from '../../journal/why.ts';
import { localText } from './local-time.ts';

/** Returns one line of `tranche why` for people, without its time: strategy, slice, event and reason. */
export function whyWords(entry: WhyEntry, zone: string, now: Instant): string {
  const { slices, leg } = entry;
  const name = slices?.length === 1 && entry.event !== 'desk' ? `slice ${slices[0]}` : undefined;
  const slice = name !== undefined && entry.says.startsWith(`${name} `) ? undefined : name;
  const place = [leg, slice].filter((part) => part !== undefined).join(' ');
  const who = [entry.strategy ?? 'desk', place].filter((part) => part !== '').join('  ');
  const isOver = entry.next !== undefined && entry.next <= now;
  const when = entry.event === 'open' ? (isOver ? 'its time ended' : 'until') : 'next';
  const next = entry.next === undefined ? '' : `; ${when} ${localText(entry.next, zone)}`;
  return `${who}: ${entry.says}${next}`;
}

/** Returns the same entry as data, with its time in UTC and on the clock of the zone. */
export const whyRow = (
  { at, next, ...entry }: WhyEntry,
  zone: string,
): Omit<WhyEntry, 'at' | 'next'> & { at: string; local: string; zone: string; next: string | undefined } => ({
  at: isoOf(at),
  local: localText(at, zone),
  zone,
  ...entry,
  next: next === undefined ? undefined : isoOf(next),
});
