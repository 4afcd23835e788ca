import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Told } from '../../journal/why.ts';
import { localText } from './local-time.ts';

/** One line of `tranche why` for people, without its time: strategy, slice, event and reason. */
export function whyWords(told: Told, zone: string, now: Instant): string {
  const { slices, leg } = told;
  const name = slices?.length === 1 && told.event !== 'desk' ? `slice ${slices[0]}` : undefined;
  const slice = name !== undefined && told.says.startsWith(`${name} `) ? undefined : name;
  const place = [leg, slice].filter((part) => part !== undefined).join(' ');
  const who = [told.strategy ?? 'desk', place].filter((part) => part !== '').join('  ');
  const isOver = told.next !== undefined && told.next <= now;
  const when = told.event === 'open' ? (isOver ? 'its time ended' : 'until') : 'next';
  const next = told.next === undefined ? '' : `; ${when} ${localText(told.next, zone)}`;
  return `${who}: ${told.says}${next}`;
}

/** The same as data. Times in UTC, and as the clock of the zone shows them. */
export const whyRow = (
  { at, next, ...told }: Told,
  zone: string,
): Omit<Told, 'at' | 'next'> & { at: string; local: string; zone: string; next: string | undefined } => ({
  at: isoOf(at),
  local: localText(at, zone),
  zone,
  ...told,
  next: next === undefined ? undefined : isoOf(next),
});
