import { owned } from './owners/scenario.ts';
import { peopled, whole } from './whole/scenario.ts';
import type { Scenario } from './scenario.ts';

/** Every simulation, by its letter. */
export const scenarios: ReadonlyMap<'B' | 'C' | 'D', Scenario> = new Map([
  ['B', whole],
  ['C', peopled],
  ['D', owned],
]);

export function scenarioOf(name: string): Scenario {
  const found = [...scenarios].find(([letter]) => letter === name.toUpperCase())?.[1];
  if (found === undefined)
    throw new RangeError(`there is no simulation ${name}: ${[...scenarios.keys()].join(', ')}`);
  return found;
}
