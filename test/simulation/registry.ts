import { simulationA } from './core/history.ts';
import { whole } from './whole/scenario.ts';
import type { Scenario } from './scenario.ts';

/** Every simulation, by its letter. */
export const scenarios: ReadonlyMap<string, Scenario> = new Map([
  ['A', simulationA],
  ['B', whole],
]);

export function scenarioOf(name: string): Scenario {
  const found = scenarios.get(name.toUpperCase());
  if (found === undefined)
    throw new RangeError(`there is no simulation ${name}: ${[...scenarios.keys()].join(', ')}`);
  return found;
}
