import { spawnSync } from 'node:child_process';
import { quantity, text } from '../../src/core/money.ts';

const isThere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** The Python that has beancount; the system's package is not on the path of every other Python. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', 'import beancount']).status === 0,
);
/** Why tests with beancount are skipped; `undefined` if it is there. */
export const noBeancount: string | undefined =
  PYTHON === undefined ? 'beancount is not installed' : undefined;
export const noHledger: string | undefined = isThere('hledger') ? undefined : 'hledger is not installed';

const READER = `
import json, sys
from beancount import loader
from beancount.core import inventory
entries, errors, _ = loader.load_file(sys.argv[1])
held, gains = {}, []
for entry in entries:
    for posting in getattr(entry, 'postings', []):
        if posting.account == 'Assets:Venue':
            held[posting.units.currency] = held.get(posting.units.currency, 0) + posting.units.number
        if posting.account == 'Income:Gains':
            gains.append([entry.payee, str(-posting.units.number)])
print(json.dumps({'errors': [each.message for each in errors], 'held': {k: str(v) for k, v in held.items() if v}, 'gains': gains}))
`;

export interface Loaded {
  readonly errors: readonly string[];
  /** What the account holds, by commodity. */
  readonly held: Readonly<Record<string, string>>;
  /** The gain of each entry that disposes of something, by id. */
  readonly gains: readonly (readonly [id: string, gain: string])[];
}

/** Loads a file with beancount, which books the lots. */
export function loadBeancount(file: string): Loaded {
  const { stdout, stderr, status } = spawnSync(PYTHON ?? '', ['-c', READER, file], {
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  if (status !== 0) throw new Error(stderr);
  const { errors, held, gains } = JSON.parse(stdout) as Loaded; // oxlint-disable-line typescript/no-unsafe-type-assertion -- printed by the program above
  return { errors, held: plainAmounts(held), gains: gains.map(([id, gain]) => [id, text(quantity(gain))]) };
}

/** Checks a file with hledger, and returns what the account holds, by commodity. */
export function loadHledger(file: string): Loaded['held'] {
  const run = (...line: readonly string[]): string => {
    const { stdout, stderr, status } = spawnSync('hledger', ['-f', file, ...line], { encoding: 'utf8' });
    if (status !== 0 || stderr !== '') throw new Error(stderr);
    return stdout;
  };
  run('check');
  run('check', 'ordereddates');
  const shown = run('balance', 'Assets', '--flat', '--no-total', '-O', 'csv', '--layout', 'bare');
  const rows = [...shown.matchAll(/^"Assets:Venue","([^"]+)","([^"]+)"$/gmu)];
  return plainAmounts(Object.fromEntries(rows.map(([, name = '', held = '']) => [name, held])));
}

const plainAmounts = (amounts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(amounts).map(([name, held]) => [name, text(quantity(held))]));
