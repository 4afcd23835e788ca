import { openTape } from '../../research/tape/store.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { OperatorError } from '../../core/errors.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Volume } from '../../strategy/kinds/volume-profile.ts';

/** Volumes of market history, from bars or trades in any file that `data import` reads. */

export interface Volumes {
  readonly of: 'bars' | 'trades';
  readonly rows: number;
  readonly volumes: readonly Volume[];
  /** Spans that rows cover, without the gaps between bars, in chronological order. */
  readonly seen: readonly Pick<Volume, 'fromMs' | 'untilMs'>[];
  /** Length of a bar, ms; 0 for trades. */
  readonly barMs: number;
}

export interface ReadVolumes {
  /** Longest accepted gap between two bars, ms. */
  readonly gapMaxMs: number;
  /** Folder that relative names start from. */
  readonly cwd: string;
}

/** Pair for a file that states none, because a profile describes one market, whichever it is. */
const ANY_PAIR = 'anypair';
const ROWS_MIN = 2;

/** Reads the volumes of a file. @throws OperatorError `data` with the name of the file and the faulty row. */
export async function readVolumes(name: string, { gapMaxMs, cwd }: ReadVolumes): Promise<Volumes> {
  const tape = await tapeOfAnyPair(name, cwd);
  const { rows, barMs, times } = tape;
  if (rows < ROWS_MIN) throw new OperatorError('data', `${name}: ${rows} rows are too few to learn from`);
  refuseHoles(tape, gapMaxMs, name);
  const volumes = Array.from(times, (fromMs, row) => ({
    fromMs,
    untilMs: fromMs + barMs,
    volume: volumeAt(tape, row, name),
  }));
  if (barMs > 0) return { of: 'bars', rows, volumes, seen: volumes, barMs };
  const span = { fromMs: times[0] ?? 0, untilMs: times.at(-1) ?? 0 };
  return { of: 'trades', rows, volumes, seen: [span], barMs };
}

async function tapeOfAnyPair(name: string, cwd: string): Promise<Tape> {
  const { tape } = await openTape([name], { cwd, anyPair: ANY_PAIR });
  return tape;
}

function refuseHoles({ times, barMs }: Tape, gapMaxMs: number, name: string): void {
  if (barMs === 0) return;
  for (let row = 1; row < times.length; row++) {
    const hole = (times[row] ?? 0) - (times[row - 1] ?? 0) - barMs;
    if (hole <= gapMaxMs) continue;
    const from = isoOf(instant((times[row - 1] ?? 0) + barMs));
    const what = hole <= barMs ? 'a bar is' : `${Math.round(hole / barMs)} bars are`;
    throw new OperatorError(
      'data',
      `${name}: ${what} missing from ${from} on; --max-gap sets the longest gap to accept`,
    );
  }
}

function volumeAt({ volume, times }: Tape, row: number, name: string): number {
  const traded = volume[row] ?? Number.NaN;
  if (Number.isNaN(traded))
    throw new OperatorError('data', `${name}: there is no volume at ${isoOf(instant(times[row] ?? 0))}`);
  return traded;
}
