import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { followStrategies, strategyIds } from '../data/strategies.ts';
import { ask } from '../router.ts';

/** Maximum number of names offered for completion. */
const OFFERED = 200;

/** Limits a screen to one strategy. */
export function StrategyField({ strategy }: { readonly strategy: string }): JSX.Element {
  const id = useId();
  useEffect(followStrategies, []);
  return (
    <label>
      Strategy{' '}
      <input
        value={strategy}
        placeholder="all"
        autocomplete="off"
        list={id}
        onChange={(event) => {
          ask({ strategy: event.currentTarget.value.trim(), pair: undefined });
        }}
      />
      <datalist id={id}>
        {strategyIds.value.slice(0, OFFERED).map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  );
}
