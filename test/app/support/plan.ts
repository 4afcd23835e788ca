import { expect } from 'vitest';
import { look } from './look.ts';
import type { Ran } from './look.ts';
import { aFolder } from '../../support/folder.ts';

export interface World {
  /** Further lines of the config. */
  readonly config?: string;
  readonly strategies: string;
  readonly token?: string;
}

/** A desk in a new folder, with a function that plans it. */
export function aDesk({ config = '', strategies, token = 'none' }: World): {
  readonly folder: string;
  readonly plan: (...line: readonly string[]) => Promise<Ran>;
} {
  const folder = aFolder({
    'strategies.yaml': strategies,
    'desk.yaml': `strategies: strategies.yaml\n${config}`,
  });
  return {
    folder,
    plan: async (...line) =>
      await look(folder, ['plan', '--config', 'desk.yaml', ...line], { env: { TRANCHE_TOKEN: token } }),
  };
}

export interface Data {
  readonly feasible: boolean;
  readonly strategies: readonly {
    readonly id: string;
    readonly notes: readonly string[];
    readonly slots: readonly Readonly<Record<string, string | number>>[];
    readonly times: readonly Readonly<Record<string, string>>[];
  }[];
  readonly checks: readonly {
    readonly check: string;
    readonly verdict: string;
    readonly strategy?: string;
    readonly says: string;
    readonly fix?: string;
  }[];
  readonly costs: readonly Readonly<Record<string, string | number>>[];
}
export const dataOf = ({ out }: Ran): Data => JSON.parse(out) as Data;
export const ofCheck = (ran: Ran, name: string): Data['checks'] =>
  dataOf(ran).checks.filter(({ check }) => check === name);

export const twap = (over = ''): string => `id: one
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
start_time: '2026-11-23T09:00:00[Europe/London]'
duration: PT1H
slices: 4
${over}`;

/** Expects the verdicts of one check, each with the start of what it says. */
export function expectCheck(
  ran: Ran,
  name: string,
  ...verdicts: readonly (readonly [string, (RegExp | string)?])[]
): void {
  const found = ofCheck(ran, name);
  expect(found.map(({ verdict }) => verdict)).toEqual(verdicts.map(([verdict]) => verdict));
  for (const [n, [, says = '']] of verdicts.entries())
    expect(`${found[n]?.says}; fix: ${found[n]?.fix}`).toMatch(says);
}
