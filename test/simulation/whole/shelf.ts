import { unpack } from '../../../src/core/text/pack.ts';
import { EngineState } from '../../../src/engine/state/engine-state.ts';
import { restoreInto } from '../../../src/engine/state/snapshot.ts';
import type { SavedState } from '../../../src/engine/state/snapshot.ts';
import type { KeptState, StatePort } from '../../../src/engine/ports.ts';
import type { Line } from '../../../src/journal/proof/chain.ts';
import { readLines } from '../../../src/journal/proof/chain.ts';
import { wordsOf } from '../../engine/kept.ts';
import { stateIn, stateText } from '../../../src/journal/sidecar/snapshot-file.ts';

const OPTIONS = { program: 'simulation' };

/** The file beside the journal with the state of the desk, which outlives its processes and is of an older journal at times. */
export class Shelf {
  readonly #every: number;
  #file: string | undefined;

  constructor(every: number) {
    this.#every = every;
  }

  /** As one process reaches it: on a journal of these lines, as long as it lives. */
  port(lines: readonly Line[], isDead: () => boolean): StatePort {
    const keep = (state: KeptState): void => {
      if (!isDead()) this.#file = stateText(OPTIONS, state);
    };
    return {
      every: this.#every,
      read: () => {
        if (this.#file === undefined) return undefined;
        return stateIn(this.#file, OPTIONS, (seq) => lines[seq - 1]?.hash);
      },
      keep,
      keepNow: keep,
    };
  }
}

/** Whether a state that was kept is what the records up to it fold to, in every field. */
export function isTrue({ seq, text }: KeptState, lines: readonly Line[]): boolean {
  const folded = new EngineState();
  for (const record of readLines('disk', lines.slice(0, seq))) folded.apply(record);
  const kept = new EngineState();
  restoreInto(kept, (unpack(text) as { readonly desk: SavedState }).desk);
  return wordsOf(kept) === wordsOf(folded);
}
