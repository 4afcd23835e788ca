import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { loadAll } from '../../src/app/strategies/strategies.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { instant } from '../../src/core/time.ts';
import { mutated, runs } from './mutate.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tranche-fuzz-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
cpSync(join(root, 'strategies'), join(folder, 'strategies'), { recursive: true });
cpSync(join(root, 'config'), join(folder, 'config'), { recursive: true });

/** Loads the config and returns the outcome. */
function loaded(file: string): string {
  try {
    loadAll(file, { env: { TRANCHE_TOKEN: 'x' }, cwd: folder, now: instant(0) });
    return 'taken';
  } catch (error) {
    return error instanceof OperatorError ? 'refused' : `thrown: ${String(error)}`;
  }
}

describe('a mutated file of a desk', () => {
  it.each([
    ['config/paper.yaml', 400],
    ['config/live.yaml', 200],
    ['strategies/demo/twap-buy.yaml', 400],
  ])('is accepted, or refused with an error for the operator: %s', (name, count) => {
    const whole = readFileSync(join(root, name), 'utf8');
    const config = name.startsWith('config') ? name : 'config/paper.yaml';
    const odd: string[] = [];
    let refused = 0;
    for (const seed of runs(count)) {
      writeFileSync(join(folder, name), mutated(whole, seed, name));
      const end = loaded(config);
      if (end.startsWith('thrown')) odd.push(`seed ${seed}: ${end}`);
      if (end === 'refused') refused += 1;
    }
    writeFileSync(join(folder, name), whole);
    expect(odd).toEqual([]);
    expect(refused).toBeGreaterThan(0);
  });
});
