import { globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { init, initFiles } from '../../src/app/commands/init.ts';
import { writeSchemas } from '../../src/app/commands/schema.ts';
import type { ValidateOptions } from '../../src/app/commands/validate.ts';
import { jsonSchema, schemaNames } from '../../src/app/config/schema.ts';
import { loadVenueOptions } from '../../src/app/config/venue-file.ts';
import { readYaml } from '../../src/app/config/yaml.ts';
import { instant } from '../../src/core/time.ts';
import { strategies } from '../../src/strategy/registry.ts';
import { expectRan, runLine, validated } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aFolder, put } from '../support/folder.ts';
import { aRunIo } from '../support/run-io.ts';
import type { PrintedIo } from '../support/run-io.ts';
import { aKernelText, aModuleText } from './support/texts.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

const repo = join(import.meta.dirname, '../..');
const now = instant(Date.UTC(2026, 10, 21, 12));
const io = (cwd: string, env = {}): PrintedIo => aRunIo({ cwd, env, now, self: 'npx tranche' });
const judged = (text: string, options: ValidateOptions = {}): Ran => {
  put(folder, { 'x.yaml': text });
  return validated(folder, { files: ['x.yaml'], ...options }, { now });
};

describe('tranche validate', () => {
  it('prints the next open times of a calendar in UTC and in its time zone', () => {
    const files = ['strategies/examples/weekday-btc.yaml'];
    const at = { now: instant(Date.UTC(2026, 11, 17)) };
    expectRan(
      validated(repo, { files }, at),
      0,
      /^strategy {2}weekday-btc {2}recurring btcusd {2}on a calendar in Europe\/London, next\n {11}2026-12-17T15:30:00Z \(2026-12-17T15:30:00 Europe\/London\)\n/u,
      '2027-01-04T15:30:00Z (2027-01-04T15:30:00 Europe/London)\n',
      /\n1 strategy is usable\n$/u,
    );
    const next = [{ at: '2026-12-17T15:30:00.000Z', zone: 'Europe/London' }, {}, {}, {}, {}];
    expect(JSON.parse(validated(repo, { files, json: true }, at).out)).toMatchObject({
      strategies: [{ next }],
    });
  });

  it.each([
    [
      'the decision times of a strategy without slots',
      `id: share
kind: pov
pair: btcusd
side: buy
total_quantity: { amount: '2', currency: btc }
share: '0.05'
interval: PT15M
start_time: '2026-11-23T09:00:00Z'
duration: PT1H
`,
      'decides at 3 times, 2026-11-23T09:15:00Z',
    ],
    [
      'a calendar without a future time',
      `id: x
kind: recurring
pair: btcusd
side: buy
each_quantity: { amount: "1", currency: btc }
end_time: 2026-01-31T00:00:00Z
schedule: { cron: "0 9 * * *" }
`,
      'recurring btcusd  no future time in its calendar',
    ],
    [
      'a calendar that is always closed, with the reason',
      `id: x
kind: rebalance
target_weights: { btc: "0.5", usd: "0.5" }
drift_threshold: "0.02"
schedule: { cron: "0 9 * * *", quiet_hours: [{ from: "08:00", to: "10:00" }] }
`,
      /nothing within nine years: .* are closed, quiet hours 08:00 to 10:00/u,
    ],
  ])('prints %s', (_, text, says) => {
    expectRan(judged(text), 0, says);
  });

  it('prints each strategy with its kind, pairs and slots, as text and as JSON', () => {
    const config = 'config/paper.yaml';
    const ran = validated(repo, { config }, { now });
    expectRan(
      ran,
      0,
      'demo-twap-buy  twap btcusd  12 slots, 2026-11-21T12:00:00Z',
      '2 strategies are usable',
    );
    expect(ran.err).toBe('');
    const last = '2026-11-21T12:00:44.000Z';
    expect(JSON.parse(validated(repo, { config, json: true }, { now }).out)).toMatchObject({
      ok: true,
      mode: 'paper',
      problems: [],
      strategies: [
        { id: 'demo-rebalance', pairs: ['btcusd', 'ethusd'], slots: 0 },
        { id: 'demo-twap-buy', slots: 12, first: '2026-11-21T12:00:00.000Z', last },
      ],
    });
  });

  it('prints problems as JSON on stdout and exits with 78', () => {
    const { code, out } = judged('id: a\nkind: twip\n', { json: true });
    const message = 'unknown kind "twip": did you mean "twap"?';
    const problems = [{ file: 'x.yaml', line: 2, column: 7, path: 'kind', message }];
    expect([code, JSON.parse(out)]).toMatchObject([78, { ok: false, problems }]);
  });

  it('checks the types of modules and reports file, line and column', () => {
    const wrong = "const n: number = 'one';\n    return { state: { n }, finished: true };";
    put(folder, { 'own.ts': aKernelText(wrong) });
    const says = /^own\.ts:6:11\n {2}Type 'string' is not assignable to type 'number'\. \(TS2322\)/u;
    expectRan(judged(aModuleText()), 78, says);
    put(folder, { 'own.ts': aKernelText() });
    expect(judged(aModuleText())).toMatchObject({ code: 0, err: '' });
  });
});

describe('tranche schema', () => {
  it.each(schemaNames)('prints the schema of %s that it writes', async (name) => {
    writeSchemas('.', io(folder));
    const { out } = await runLine(['schema', name], { cwd: folder });
    expect(out).toBe(readFileSync(join(folder, `${name}.schema.json`), 'utf8'));
  });

  it('writes the schema of every file type', () => {
    writeSchemas('schemas', io(folder));
    const written = JSON.parse(readFileSync(join(folder, 'schemas/strategy.schema.json'), 'utf8')) as {
      anyOf: { properties: { kind: { const: string } }; additionalProperties: boolean }[];
    };
    expect(written.anyOf.map(({ properties }) => properties.kind.const)).toEqual([...strategies.keys()]);
    expect(written.anyOf.every(({ additionalProperties }) => !additionalProperties)).toBe(true);
  });

  it('contains a description of every setting', () => {
    const bare: string[] = [];
    const visit = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const { properties, anyOf, items, additionalProperties } = node as Record<string, unknown>;
      for (const [key, child] of Object.entries(properties ?? {})) {
        const { description } = child as { readonly description?: string };
        if (description === undefined) bare.push(`${path}.${key}`);
        visit(child, `${path}.${key}`);
      }
      for (const child of Array.isArray(anyOf) ? anyOf : []) visit(child, path);
      visit(items, `${path}[]`);
      visit(additionalProperties, `${path}{}`);
    };
    for (const name of schemaNames) visit(jsonSchema(name), name);
    expect(bare).toEqual([]);
  });
});

describe('the schemas that examples refer to', () => {
  const schemaOf = (file: string): { readonly accepts: (value: unknown) => boolean } => {
    const [, target] = /\$schema=(\S+)\n/u.exec(readFileSync(join(repo, file), 'utf8')) ?? [];
    const name = schemaNames.find((each) => target?.endsWith(`schema/${each}.schema.json`)) ?? 'config';
    const json = jsonSchema(name) as z.core.JSONSchema.JSONSchema;
    const read = z.fromJSONSchema(json);
    return { accepts: (value) => read.safeParse(value).success };
  };

  it.each(initFiles.filter((file) => file.endsWith('.yaml')))(
    'accept %s, and reject it with a misspelt key',
    (file) => {
      const [document] = readYaml(readFileSync(join(repo, file)), file, { TRANCHE_TOKEN: 'x' }).documents;
      const { accepts } = schemaOf(file);
      expect(accepts(document?.value)).toBe(true);
      expect(accepts({ ...(document?.value as object), slicess: 1 })).toBe(false);
    },
  );
});

describe('the example strategies', () => {
  const files = globSync('strategies/{*,examples/*}.yaml', { cwd: repo });

  it.each(files)('are valid without changes: %s', (file) => {
    expectRan(validated(repo, { files: [file] }, { now }), 0, 'usable');
  });
});

describe('tranche init', () => {
  it('writes examples that are valid without changes', () => {
    const to = io(folder);
    expect(init('desk', to)).toBe(0);
    expect(to.printed.err).toContain('wrote desk/config/paper.yaml');
    expect(to.printed.err).toContain('next: npx tranche validate --config desk/config/paper.yaml');
    for (const mode of ['paper', 'dry-run'])
      expectRan(
        validated(folder, { config: `desk/config/${mode}.yaml` }, { env: { TRANCHE_TOKEN: 'x' } }),
        0,
      );
    expect(loadVenueOptions('desk/config/venue.yaml', io(folder)).pairs['btcusd']?.maxUsd).toBe('250000');
  });

  it('prints the next command with its path quoted for the shell', () => {
    const to = io(folder);
    expect(init("ann's dësk", to)).toBe(0);
    expect(to.printed.err).toContain(String.raw`validate --config 'ann'\''s dësk/config/paper.yaml'`);
  });

  it('never overwrites an existing file, and writes no other files if one exists', () => {
    expect(init('.', io(folder))).toBe(0);
    put(folder, { 'config/live.yaml': 'mine' });
    rmSync(join(folder, 'config/paper.yaml'));
    const to = io(folder);
    expect(init('.', to)).toBe(64);
    expect(to.printed.err).toContain(join(folder, 'config/live.yaml'));
    expect(readFileSync(join(folder, 'config/live.yaml'), 'utf8')).toBe('mine');
    expect(() => readFileSync(join(folder, 'config/paper.yaml'))).toThrow('ENOENT');
  });

  it.each([
    ['/proc/nothing', '/proc/nothing/config/paper.yaml cannot be written'],
    ['a-file', 'a-file/config/paper.yaml cannot be written'],
  ])('reports that files cannot be written to %s', (where, says) => {
    put(folder, { 'a-file': '' });
    expect(() => init(where, io(folder))).toThrow(
      expect.objectContaining({ exit: 'storage', message: expect.stringContaining(says) as string }),
    );
  });

  it('gives every example a reference to a schema that it writes as well', () => {
    for (const file of initFiles.filter((each) => each.endsWith('.yaml'))) {
      const [, target] =
        /^# yaml-language-server: \$schema=(\S+)\n/u.exec(readFileSync(join(repo, file), 'utf8')) ?? [];
      expect(initFiles).toContain(relative('.', join(dirname(file), target ?? 'none')));
    }
  });
});

describe('loadVenueOptions', () => {
  it('reports mistakes with their position, and resolves price files relative to the options file', () => {
    put(folder, { 'v.yaml': 'prices: { btcusd: bars.csv }\n' });
    expect(loadVenueOptions('v.yaml', io(folder)).prices).toEqual({ btcusd: join(folder, 'bars.csv') });
    put(folder, { 'v.yaml': 'pairs:\n  btcusd: { start_prise: "1" }\n' });
    expect(() => loadVenueOptions('v.yaml', io(folder))).toThrow(
      /v\.yaml:2:13[^]*did you mean "start_price"/u,
    );
  });
});
