import { reasons } from '../../core/reasons.ts';
import { isoOf } from '../../core/time.ts';
import type { Action, Day, Planned, Records, Traded, UntradedSum } from './day.ts';
import type { Doubt } from './doubts.ts';

const ROWS_MAX = 12;

export interface DayWordsOptions {
  /** Sanitizes foreign ids for the reader. */
  readonly name?: ((text: string) => string) | undefined;
  /** Maximum number of rows per heading; more are only counted. */
  readonly rowsMax?: number | undefined;
  /** Appends to each line the records that prove it. */
  readonly hasRecords?: boolean | undefined;
}

/** A line, and the records that prove it. */
export interface Said {
  readonly words: string;
  readonly records: Records;
}

/** A heading with its rows. If there are no rows, only the heading is shown. */
export interface DaySection {
  readonly heading: string;
  readonly rows: readonly Said[];
  /** Records that prove a heading without rows. */
  readonly records?: Records | undefined;
}

/**
 * A day in words, derived only from reasons and figures: what was planned, what traded, what did not and why, costs,
 * events, actions of people, and requests that wait for someone (`waiting`).
 */
export function dayWords(
  day: Day,
  waiting: readonly string[],
  { name, rowsMax = ROWS_MAX, hasRecords = false }: DayWordsOptions = {},
): readonly string[] {
  const proven = (words: string, records: Records = []): string =>
    hasRecords && records.length > 0 ? `${words} [${ranges(records)}]` : words;
  return [
    `${isoOf(day.from)} to ${isoOf(day.until)}`,
    ...daySections(day, waiting, name).flatMap(({ heading, rows, records }) => [
      rows.length === 0 ? proven(`${heading}.`, records) : `${heading}:`,
      ...rows.slice(0, rowsMax).map((row) => `- ${proven(row.words, row.records)}`),
      ...(rows.length > rowsMax ? [`- and ${rows.length - rowsMax} more`] : []),
    ]),
  ];
}

/** The same, by heading. */
export function daySections(
  day: Day,
  waiting: readonly string[],
  name: (text: string) => string = (text) => text,
): readonly DaySection[] {
  const { planned, traded, untraded, ended, alerts, actions, doubts, starts } = day;
  const fills = traded.reduce((sum, row) => sum + row.fills, 0);
  const some = (heading: string, rows: readonly Said[]): readonly DaySection[] =>
    rows.length === 0 ? [] : [{ heading, rows }];
  const told = alerts
    .filter(({ severity }) => severity !== 'info')
    .toSorted((a, b) => a.severity.localeCompare(b.severity) || b.count - a.count);
  return [
    ...some('Planned', planned.map((row) => plannedLine(row, name))),
    { heading: fills === 0 ? 'Nothing traded' : `Traded, ${count(fills, 'fill')}`, rows: traded.map((row) => tradedLine(row, name)) },
    ...some('Not traded, and why', untraded.map((row) => untradedLine(row, name))),
    ...some('Ended', ended.map(({ strategy, reason, records }) => ({ words: `${name(strategy)}: ${reasons[reason]} (${reason})`, records }))),
    ...some('Alerts', told.map(({ alert, severity, count: times, records }) => ({ words: `${severity} ${name(alert)}, ${count(times, 'time')}`, records }))),
    ...some('Who did what', actions.map((row) => actionLine(row, name))),
    ...some('Orders whose outcome was unknown', doubts.map((row) => doubtLine(row, name))),
    ...(starts.length === 0 ? [] : [{ heading: `The desk was started ${starts.length === 1 ? 'once' : `${starts.length} times`}`, rows: [], records: starts }]),
    { heading: waiting.length === 0 ? 'Nothing waits for a person' : 'Waits', rows: waiting.map((words) => ({ words, records: [] })) },
  ]; // prettier-ignore
}

const plannedLine = ({ strategy, slices, records }: Planned, name: (text: string) => string): Said => ({
  words: `${name(strategy)}: ${count(slices, 'slice')}`,
  records,
});

function tradedLine(row: Traded, name: (text: string) => string): Said {
  const verb = row.side === 'buy' ? 'bought' : 'sold';
  const fees = row.fees === '0' ? '' : `, fees ${row.fees} ${name(row.quote)}`;
  const spent =
    row.cost === undefined
      ? ''
      : `; cost ${row.cost.bps} bps (${row.cost.amount} ${name(row.quote)}) against the price at the decision`;
  return {
    words: `${name(row.strategy)} ${verb} ${row.quantity} ${name(row.base)} for ${row.amount} ${name(row.quote)}, ${row.averagePrice} on average, ${count(row.fills, 'fill')}${fees}${spent}`,
    records: row.records,
  };
}

function untradedLine(
  { strategy, reason, slices, looks, records }: UntradedSum,
  name: (text: string) => string,
): Said {
  const what = [
    ...(slices === 0 ? [] : [count(slices, 'slice')]),
    ...(looks === 0 ? [] : [count(looks, 'evaluation')]),
  ].join(' and ');
  return { words: `${name(strategy)}, ${what}: ${reasons[reason]} (${reason})`, records };
}

const actionLine = ({ what, by, why, at, records }: Action, name: (text: string) => string): Said => ({
  words: `${isoOf(at)} ${name(what)}, by ${name(by)}${why === '' ? '' : `: ${name(why)}`}`,
  records,
});

const PROOFS = {
  traded: 'it traded',
  rejected: 'the venue did not fill it',
  absent: 'it did not trade',
} as const;

function doubtLine({ order, since, proof, by, records }: Doubt, name: (text: string) => string): Said {
  const shown = by === undefined ? 'the account showed' : `${name(by)} stated`;
  const end = proof === undefined ? 'still unknown' : `${shown} that ${PROOFS[proof]}`;
  return { words: `${name(order)}, since ${isoOf(since)}: ${end}`, records };
}

/** Record numbers with runs abbreviated: `3, 5-9`; at most a handful. */
export function ranges(records: Records): string {
  const runs: [first: number, last: number][] = [];
  for (const seq of records.toSorted((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run !== undefined && seq <= run[1] + 1) run[1] = seq;
    else runs.push([seq, seq]);
  }
  const shown = runs
    .slice(0, RUNS_MAX)
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return [...shown, ...(runs.length > RUNS_MAX ? [`and ${runs.length - RUNS_MAX} more`] : [])].join(', ');
}

const RUNS_MAX = 8;

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
