import { lastKnownAt } from '../../research/run/delisting.ts';
import type { Delisting } from '../../research/run/delisting.ts';
import { coverOf } from '../../research/run/run.ts';
import { knownAt } from '../../research/tape/tape.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { OperatorError } from '../../core/errors.ts';
import { DAY_MS, instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { BacktestFacts } from '../../report/json/schema.ts';
import { readMoment } from '../cli/local-time.ts';
import type { Given } from '../commands/io.ts';

export type WindowOptions = Given<'from' | 'until'> & {
  readonly delisted?: Delisting | 'refuse' | undefined;
};

export interface NamedTape {
  readonly tape: Tape;
  /** Name of the file, as the operator gave it. */
  readonly file: string;
}

interface Window {
  readonly from: Instant;
  readonly until: Instant;
  readonly window: WindowFacts;
}

/** Facts about a window: the history that it omits, and the assets whose prices end before it. Stated before the run and in the report. */
export interface WindowFacts {
  readonly shortened: NonNullable<BacktestFacts['shortened']>;
  readonly delisted: readonly Delisted[];
  /** The same facts in words, one sentence each. */
  readonly notes: readonly string[];
}

interface Delisted {
  readonly pair: string;
  /** Time at which the last price is known. */
  readonly at: Instant;
  readonly does: Delisting;
}

/** Returns the requested window. Default: the time that all tapes cover or, unless delisted assets are refused, up to the last end. */
export function windowOf(options: WindowOptions, tapes: readonly NamedTape[]): Window {
  const { from, until, delisted = 'refuse' } = options;
  const ends = tapes.map(({ tape }) => ({ tape, until: coverOf([tape]).until }));
  const last = ends.reduce((a, b) => (b.until > a.until ? b : a));
  const cover = coverOf(tapes.map(({ tape }) => tape));
  const usualEnd = delisted === 'refuse' ? cover.until : last.until;
  const asked = {
    from: instant(from === undefined ? cover.from : readMoment(from, { option: '--from', zone: 'UTC' })),
    until: instant(until === undefined ? usualEnd : readMoment(until, { option: '--until', zone: 'UTC' })),
  };
  for (const { tape, file } of tapes) {
    const { pair } = tape;
    const first = knownAt(tape, 0);
    const end = coverOf([tape]).until;
    if (asked.from < first)
      throw new OperatorError(
        'usage',
        `--from ${isoOf(asked.from)} is before the first price of ${pair}, at ${isoOf(first)} (${file}): use that time or omit --from`,
      );
    if (asked.until > end && (delisted === 'refuse' || tape === last.tape))
      throw new OperatorError(
        'usage',
        `${until === undefined ? 'the window ends at' : '--until'} ${isoOf(asked.until)}, but the tape of ${pair} (${file}) ends at ${isoOf(end)}: use that time or omit --until${tape === last.tape ? '' : '; if it was delisted then, --delisted liquidate sells it there and --delisted freeze keeps it at its last price'}`,
      );
    if (end <= asked.from)
      throw new OperatorError('usage', `--from ${isoOf(asked.from)} is after the end of the tape of ${pair}, at ${isoOf(end)} (${file}): omit the pair, or begin earlier`); // prettier-ignore
  }
  if (asked.until <= asked.from)
    throw new OperatorError(
      'usage',
      `the window from ${isoOf(asked.from)} to ${isoOf(asked.until)} is empty: the tapes must overlap, and --from must be before --until`,
    );
  const shortened = shortenedBy(options, tapes, asked);
  const gone = delisted === 'refuse' ? [] : ends.flatMap(({ tape, until: end }) => (end < asked.until ? [{ pair: tape.pair, at: lastKnownAt(tape), does: delisted }] : [])); // prettier-ignore
  return {
    ...asked,
    window: {
      shortened,
      delisted: gone,
      notes: [...shortened.map(shortenedWords), ...gone.map(delistedWords)],
    },
  };
}

/**
 * Returns the default bounds that omit a day or more of history, because one asset that was listed late or delisted
 * early shortens the window for all assets.
 */
function shortenedBy(
  asked: WindowOptions,
  tapes: readonly NamedTape[],
  { from, until }: Pick<Window, 'from' | 'until'>,
): WindowFacts['shortened'] {
  const covers = tapes.map(({ tape }) => ({ pair: tape.pair, ...coverOf([tape]) }));
  const ofAll = {
    from: covers.reduce((a, b) => (b.from < a.from ? b : a)),
    until: covers.reduce((a, b) => (b.until > a.until ? b : a)),
  };
  const lostMs = { from: from - ofAll.from.from, until: ofAll.until.until - until };
  const at = { from, until };
  return (['until', 'from'] as const)
    .filter((end) => asked[end] === undefined && lostMs[end] >= DAY_MS)
    .map((end) => ({
      end,
      at: isoOf(at[end]),
      by: covers.filter((one) => one[end] === at[end]).map(({ pair }) => pair),
      left_out_of: ofAll[end].pair,
      left_out_ms: lostMs[end],
    }));
}

const days = (ms: number): string => `${Number((ms / DAY_MS).toFixed(1))} days`;

const shortenedWords = ({ end, at, by, left_out_of: of, left_out_ms: ms }: WindowFacts['shortened'][number]): string =>
  `the window ${end === 'from' ? 'begins' : 'ends'} at ${at}, where the prices of ${by.join(', ')} ${end === 'from' ? 'begin' : 'end'}: ${days(ms)} of ${of} are omitted`; // prettier-ignore

const delistedWords = ({ pair, at, does }: Delisted): string =>
  `the prices of ${pair} end at ${isoOf(at)}, before the window: ${does === 'liquidate' ? 'holdings are sold at the last price, at the cost of the model' : 'holdings stay valued at the last price'}, and the backtest buys no more of it`; // prettier-ignore
