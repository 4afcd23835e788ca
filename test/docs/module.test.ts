import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadModule } from '../../src/app/strategies/modules.ts';
import { readStrategies } from '../../src/app/strategies/strategies.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import { started } from '../engine/harness.ts';
import { executedTotal, faultsOf, fillsOf } from '../engine/oracle.ts';
import { guideCode, written } from './module-guide.ts';

const root = new URL('../../', import.meta.url);
const code = guideCode('dip-buyer.ts');
const yaml = guideCode('dip-buyer.yaml');

/** The strategy of the guide: its two files in a separate folder, read as the program reads them. */
function followed(over: Readonly<Record<string, string>> = {}): StrategySource {
  const { folder, file } = written(over);
  const { strategies, problems } = readStrategies([file], undefined, { env: {}, cwd: folder });
  expect(problems).toEqual([]);
  const [strategy] = strategies;
  if (strategy === undefined) throw new Error('no strategy');
  return strategy;
}

describe('the guide to modules', () => {
  it('shows a kernel of less than thirty lines that equals the example', () => {
    expect(code.trimEnd().split('\n').length).toBeLessThan(30);
    expect(code).toBe(readFileSync(new URL('strategies/examples/dip-buyer.ts', root), 'utf8'));
    expect(yaml).toBe(readFileSync(new URL('strategies/examples/dip-buyer.yaml', root), 'utf8'));
    expect(loadModule({ file: 'dip-buyer.ts', sha256: 'guide', text: code })).toHaveProperty('kernel');
  });

  it('shows a strategy that buys only after dips, within its total, and ends', () => {
    const strategy = followed({ "'10000'": "'2000'", "'0.02'": "'0.002'" });
    const bench = started({ strategies: [strategy], venue: { seed: 'dips' } }, 24 * HOUR_MS);
    expect(faultsOf(bench)).toEqual([]);
    const fills = fillsOf(bench.records());
    expect(fills.map(({ amount }) => Number(amount))).toEqual([500, 500, 500, 500]);
    expect(executedTotal(bench.exchange).gt(0)).toBe(true);
    expect(bench.desk.state.lives.get('dip-buyer')?.finished).toBe('finished');
    const notes = bench.bodies('wake').flatMap(({ intents, note }) => (intents.length > 0 ? [note] : []));
    expect(notes).toHaveLength(4);
    expect(notes.every((note) => note?.startsWith('a dip from '))).toBe(true);
  });
});
