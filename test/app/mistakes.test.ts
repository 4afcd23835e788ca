import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { validate } from '../../src/app/commands/validate.ts';
import type { ValidateOptions } from '../../src/app/commands/validate.ts';
import { instant } from '../../src/core/time.ts';

const folder = join(import.meta.dirname, 'mistakes');

/** Runs `validate` and returns its exit code and its output. */
function run(options: ValidateOptions, env = {}): { readonly code: number; readonly printed: string } {
  let printed = '';
  const write = (text: string): void => {
    printed += text;
  };
  const now = instant(Date.UTC(2026, 10, 21));
  const code = validate(options, {
    stdout: { write },
    stderr: { write },
    env,
    cwd: folder,
    now,
    colour: false,
  });
  return { code, printed };
}

const strategyMistakes: Readonly<Record<string, readonly string[]>> = {
  'wrong-unit': [],
  'unknown-key': [],
  'interval-and-slices': [],
  'bare-float': [],
  'time-zone': [],
  'below-minimum': [],
  'vwap-profile': [],
  'vwap-weights': [],
  'vwap-below-minimum': [],
  'shortfall-fields': [],
  'shortfall-pace': [],
  'shortfall-below-minimum': [],
  weights: [],
  'unknown-pair': [],
  'duplicate-id': ['duplicate-id-other.yaml'],
  tab: [],
  'number-as-text': [],
  'not-yaml': [],
  'nothing-written': [],
  'recurring-schedule': [],
  'recurring-calendar': [],
};
const configMistakes = ['missing-token', 'config-typos', 'live-limits'];

describe('a YAML mistake', () => {
  it.each(Object.entries(strategyMistakes))(
    'in a strategy is explained with its position and a correction: %s',
    (name, others) => {
      const { code, printed } = run({ config: 'desk.yaml', files: [`${name}.yaml`, ...others] });
      expect(code).toBe(78);
      expectGolden(name, printed);
    },
  );

  it.each(configMistakes)('in a config is explained with its position and a correction: %s', (name) => {
    const { code, printed } = run({ config: `${name}.yaml` });
    expect(code).toBe(78);
    expectGolden(name, printed);
  });

  it('is reported without showing a token', () => {
    const printed = configMistakes.map((name) => run({ config: `${name}.yaml` }).printed).join('');
    expect(printed).toContain('venue.token');
    expect(printed).not.toContain('sk_live');
  });
});

/** Compares byte for byte. `UPDATE_GOLDEN=1` overwrites the file; review it before you commit it. */
function expectGolden(name: string, printed: string): void {
  const file = join(folder, `${name}.txt`);
  const shown = printed.replaceAll(folder, '<folder>');
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, shown);
  expect(shown).toBe(readFileSync(file, 'utf8'));
}
