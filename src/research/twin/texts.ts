import { OperatorError } from '../../core/errors.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import type { Texts } from './recorded.ts';
import type { Tape } from '../tape/tape.ts';
import type { TwinSetup } from './twin-setup.ts';

/** Returns live's texts. A candidate replaces the strategy with its id, or is added to the others, from the start on. */
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

/**
 * Returns the strategies that can trade. @throws OperatorError `data` for a text that this version cannot read, `usage` for a
 * candidate without prices.
 */
export function sourcesOf(
  setup: TwinSetup,
  texts: Texts | undefined,
  tapes: readonly Tape[],
): readonly StrategySource[] {
  const known = new Set(tapes.map(({ pair }) => pair));
  const missing = setup.candidate?.bound.pairs.find((pair) => !known.has(pair));
  if (missing !== undefined)
    throw new OperatorError('usage', `the journal has no prices of ${missing}: add --data ${missing}=FILE`);
  const sources = (texts?.documents ?? []).map((begun) => {
    const source = setup.revive(begun);
    if (source === undefined)
      throw new OperatorError(
        'data',
        `this version cannot read strategy ${begun.strategy} as the journal records it: kind ${begun.type}`,
      );
    return source;
  });
  // Live did not have a price for a pair without a reference either.
  return sources.filter(({ bound }) => bound.pairs.every((pair) => known.has(pair)));
}
