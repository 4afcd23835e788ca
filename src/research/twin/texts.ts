import { OperatorError } from '../../core/errors.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import type { Texts } from './recorded.ts';
import type { TwinSetup } from './twin-setup.ts';

/** The texts of live; with a candidate, that in place of the strategy with its id, or besides all others, from the start on. */
export function textsOf({ recorded, candidate }: TwinSetup): readonly Texts[] {
  if (candidate === undefined) return recorded.texts;
  const { id: strategy, hash, kind: type, document } = candidate;
  return recorded.texts.map(({ at, documents }) => ({
    at,
    documents: [
      ...documents.filter((each) => each.strategy !== strategy),
      { strategy, hash, type, document },
    ],
  }));
}

/** @throws OperatorError `data` for a text that this version cannot read. */
export function sourcesOf(setup: TwinSetup, texts: Texts | undefined): readonly StrategySource[] {
  return (texts?.documents ?? []).map((begun) => {
    const source = setup.revive(begun);
    if (source === undefined)
      throw new OperatorError(
        'data',
        `this version cannot read strategy ${begun.strategy} as the journal has it: kind ${begun.type}`,
      );
    return source;
  });
}
