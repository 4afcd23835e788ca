import { reasons } from '../../core/reasons.ts';
import { isoOf } from '../../core/time.ts';
import type { Day, Traded, UntradedSum } from './day.ts';

const ROWS_MAX = 12;

/**
 * A day in words: what traded, what did not and why, what it cost, what happened, what waits for whom (`waiting`). `name` makes ids that
 * others wrote fit for the reader.
 */
export function dayWords(
  day: Day,
  waiting: readonly string[],
  name: (text: string) => string = (text) => text,
): readonly string[] {
  const { traded, untraded, ended, alerts, controls, doubts, starts } = day;
  const fills = traded.reduce((sum, row) => sum + row.fills, 0);
  const told = alerts.filter(({ severity }) => severity !== 'info');
  return [
    `${isoOf(day.from)} to ${isoOf(day.until)}`,
    ...part(fills === 0 ? 'Nothing traded.' : `Traded, ${count(fills, 'fill')}:`, traded.map((row) => tradedLine(row, name))),
    ...part(untraded.length === 0 ? undefined : 'Not traded, and why:', untraded.map((row) => untradedLine(row, name))),
    ...part(
      ended.length === 0 ? undefined : 'Ended:',
      ended.map(({ strategy, reason }) => `${name(strategy)}: ${reasons[reason]} (${reason})`),
    ),
    ...part(
      told.length === 0 ? undefined : 'Alerts:',
      told
        .toSorted((a, b) => a.severity.localeCompare(b.severity) || b.count - a.count)
        .map(({ alert, severity, count: times }) => `${severity} ${name(alert)}, ${times} times`),
    ),
    ...part(
      controls.length === 0 ? undefined : 'Halted, paused, resumed:',
      controls.map(({ what, by, at }) => `${isoOf(at)} ${name(what)}, by ${name(by)}`),
    ),
    ...(doubts.opened + doubts.ended === 0
      ? []
      : [`Orders whose outcome was unknown: ${doubts.opened}, of which ${doubts.ended} were resolved in this time.`]),
    ...(starts === 0 ? [] : [`The desk was started ${starts === 1 ? 'once' : `${starts} times`}.`]),
    ...part(waiting.length === 0 ? 'Nothing waits for a person.' : 'Waits:', waiting),
  ]; // prettier-ignore
}

/** A heading with its rows, of which the last ones may be left out. */
function part(heading: string | undefined, rows: readonly string[]): readonly string[] {
  if (heading === undefined) return [];
  const shown = rows.slice(0, ROWS_MAX).map((row) => `- ${row}`);
  return [heading, ...shown, ...(rows.length > ROWS_MAX ? [`- and ${rows.length - ROWS_MAX} more`] : [])];
}

function tradedLine(row: Traded, name: (text: string) => string): string {
  const verb = row.side === 'buy' ? 'bought' : 'sold';
  const fees = row.fees === '0' ? '' : `, fees ${row.fees} ${name(row.quote)}`;
  const spent =
    row.cost === undefined
      ? ''
      : `; cost ${row.cost.bps} bps (${row.cost.amount} ${name(row.quote)}) against the price when it was decided`;
  return `${name(row.strategy)} ${verb} ${row.quantity} ${name(row.base)} for ${row.amount} ${name(row.quote)}, ${row.averagePrice} on average, ${count(row.fills, 'fill')}${fees}${spent}`;
}

function untradedLine(
  { strategy, reason, slices, looks }: UntradedSum,
  name: (text: string) => string,
): string {
  const what = [
    ...(slices === 0 ? [] : [count(slices, 'slice')]),
    ...(looks === 0 ? [] : [count(looks, 'look')]),
  ].join(' and ');
  return `${name(strategy)}, ${what}: ${reasons[reason]} (${reason})`;
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
