import { Tally } from './oddities.ts';
import { Broken, Player } from './play.ts';

/** One process that plays sets, so that every core has work, and every mutant a process of its own. */
export interface Job {
  readonly from: number;
  readonly step: number;
  readonly sets: number;
  /** The first set that breaks the property ends the job. */
  readonly isFirstEnough: boolean;
}

export interface Sofar {
  readonly isOver: boolean;
  readonly played: number;
  readonly counts: readonly number[];
  readonly broken: number;
  readonly first: { readonly seed: number; readonly why: string } | undefined;
}

const asker = process.ppid;
const TELL_EVERY = 20_000;

function work({ from, step, sets, isFirstEnough }: Job): void {
  const tally = new Tally();
  const player = new Player((oddity) => {
    tally.note(oddity);
  });
  let broken = 0;
  let first: Sofar['first'];
  const tell = (played: number, isOver: boolean): void => {
    // Whoever asked is gone: nobody waits for hours of work.
    if (process.ppid !== asker) process.exit(1);
    process.send?.({ isOver, played, counts: [...tally.counts], broken, first } satisfies Sofar);
  };
  for (let n = 0; n < sets; n++) {
    const seed = from + n * step;
    try {
      player.play(seed);
    } catch (error) {
      broken += 1;
      first ??= { seed, why: whyOf(error) };
      if (isFirstEnough) {
        tell(n + 1, true);
        return;
      }
    }
    if (n % TELL_EVERY === TELL_EVERY - 1) tell(n + 1, false);
  }
  tell(sets, true);
}

/** An error of the product breaks the property as well. */
const whyOf = (error: unknown): string =>
  error instanceof Broken
    ? error.message
    : error instanceof Error
      ? `threw: ${error.message}`
      : String(error);

process.once('message', work);
