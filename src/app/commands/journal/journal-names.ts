import { COMMON_CURRENCIES, splitPair } from '../../../core/pairs.ts';
import { OperatorError } from '../../../core/errors.ts';
import { nearest } from '../../config/problems.ts';

/** Returns base and quote of a pair that no record names; `undefined` if the pair cannot be split. */
export function currenciesOf(pair: string): { readonly base: string; readonly quote: string } | undefined {
  const split = splitPair(pair, COMMON_CURRENCIES);
  return 'problem' in split ? undefined : split;
}

/** Refuses a strategy that the journal does not know. @throws OperatorError `usage` */
export function refuseUnknown(strategy: string | undefined, ids: ReadonlySet<string>): void {
  if (strategy === undefined || ids.has(strategy)) return;
  const meant = nearest(strategy, ids);
  const known =
    ids.size === 0 ? 'no strategy has started in this journal' : `it knows ${[...ids].toSorted().join(', ')}`;
  throw new OperatorError(
    'usage',
    `the journal has no strategy "${strategy}": ${meant === undefined ? known : `did you mean "${meant}"?`}`,
  );
}
