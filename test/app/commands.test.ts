import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { init, initFiles } from '../../src/app/init/init.ts';
import type { CommandIo } from '../../src/app/commands/io.ts';
import { schema, writeSchemas } from '../../src/app/commands/schema.ts';
import { validate } from '../../src/app/commands/validate.ts';
import { jsonSchema, schemaNames } from '../../src/app/config/schema.ts';
import { loadVenueOptions } from '../../src/app/config/venue-file.ts';
import { readYaml } from '../../src/app/config/yaml.ts';
import { instant } from '../../src/core/time.ts';
import { strategies } from '../../src/strategy/registry.ts';
import { aFolder } from '../support/folder.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

const repo = join(import.meta.dirname, '../..');

interface Printed extends CommandIo {
  readonly printed: { out: string; err: string };
  readonly self: string;
}
function io(cwd: string, env = {}): Printed {
  const printed = { out: '', err: '' };
  const stdout = { write: (text: string): unknown => (printed.out += text) };
  const stderr = { write: (text: string): unknown => (printed.err += text) };
  const now = instant(Date.UTC(2026, 10, 21, 12));
  return { printed, stdout, stderr, env, cwd, now, colour: false, self: 'npx tranche' };
}

describe('tranche validate', () => {
  it('prints the next open times of a calendar in UTC and in its time zone', () => {
    const to = io(repo);
    const now = instant(Date.UTC(2026, 11, 17));
    expect(validate({ files: ['strategies/examples/weekday-btc.yaml'] }, { ...to, now })).toBe(0);
    expect(to.printed.out).toBe(`strategy  weekday-btc  recurring btcusd  on a calendar in Europe/London, next
           2026-12-17T15:30:00Z (2026-12-17T15:30:00 Europe/London)
           2027-01-04T15:30:00Z (2027-01-04T15:30:00 Europe/London)
           2027-01-07T15:30:00Z (2027-01-07T15:30:00 Europe/London)
           2027-01-11T15:30:00Z (2027-01-11T15:30:00 Europe/London)
           2027-01-14T15:30:00Z (2027-01-14T15:30:00 Europe/London)
1 strategy is usable
`);
    const json = io(repo);
    validate({ files: ['strategies/examples/weekday-btc.yaml'], json: true }, { ...json, now });
    expect(JSON.parse(json.printed.out)).toMatchObject({
      strategies: [{ next: [{ at: '2026-12-17T15:30:00.000Z', zone: 'Europe/London' }, {}, {}, {}, {}] }],
    });
  });

  it('prints the decision times of a strategy without slots', () => {
    writeFileSync(
      join(folder, 'share.yaml'),
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
    );
    const to = io(folder);
    expect(validate({ files: ['share.yaml'] }, to)).toBe(0);
    expect(to.printed.out).toContain('decides at 3 times, 2026-11-23T09:15:00Z');
  });

  it('reports a calendar without a future time', () => {
    writeFileSync(
      join(folder, 'x.yaml'),
      `id: x
kind: recurring
pair: btcusd
side: buy
each_quantity: { amount: "1", currency: btc }
end_time: 2026-01-31T00:00:00Z
schedule: { cron: "0 9 * * *" }
`,
    );
    const to = io(folder);
    expect(validate({ files: ['x.yaml'] }, to)).toBe(0);
    expect(to.printed.out).toContain('recurring btcusd  no future time in its calendar');
  });

  it('reports a calendar that is closed for a whole year, with the reason', () => {
    writeFileSync(
      join(folder, 'x.yaml'),
      `id: x
kind: rebalance
target_weights: { btc: "0.5", usd: "0.5" }
drift_threshold: "0.02"
schedule:
  cron: "0 9 * * *"
  quiet_hours: [{ from: "08:00", to: "10:00" }]
`,
    );
    const to = io(folder);
    expect(validate({ files: ['x.yaml'] }, to)).toBe(0);
    expect(to.printed.out).toMatch(/nothing within nine years: .* are closed, quiet hours 08:00 to 10:00/u);
  });

  it('prints each strategy with its kind, pairs and slots', () => {
    const to = io(repo);
    expect(validate({ config: 'config/paper.yaml' }, to)).toBe(0);
    expect(to.printed.err).toBe('');
    expect(to.printed.out).toContain('demo-twap-buy  twap btcusd  12 slots, 2026-11-21T12:00:00Z');
    expect(to.printed.out).toContain('2 strategies are usable');
  });

  it('prints the same as JSON', () => {
    const to = io(repo);
    expect(validate({ config: 'config/paper.yaml', json: true }, to)).toBe(0);
    expect(JSON.parse(to.printed.out)).toMatchObject({
      ok: true,
      mode: 'paper',
      problems: [],
      strategies: [
        { id: 'demo-rebalance', pairs: ['btcusd', 'ethusd'], slots: 0 },
        {
          id: 'demo-twap-buy',
          slots: 12,
          first: '2026-11-21T12:00:00.000Z',
          last: '2026-11-21T12:00:44.000Z',
        },
      ],
    });
  });

  it('prints problems as JSON on stdout and exits with 78', () => {
    writeFileSync(join(folder, 'x.yaml'), 'id: a\nkind: twip\n');
    const to = io(folder);
    expect(validate({ files: ['x.yaml'], json: true }, to)).toBe(78);
    expect(JSON.parse(to.printed.out)).toMatchObject({
      ok: false,
      problems: [
        {
          file: 'x.yaml',
          line: 2,
          column: 7,
          path: 'kind',
          message: 'unknown kind "twip": did you mean "twap"?',
        },
      ],
    });
  });

  it('checks strategies without a config', () => {
    const to = io(repo);
    expect(validate({ files: ['strategies/btc-twap.yaml'] }, to)).toBe(0);
    expect(to.printed.out).toContain('48 slots, 2026-12-01T09:00');
  });
});

describe('tranche schema', () => {
  it.each(schemaNames)('prints the schema of %s that it writes', (name) => {
    const to = io(folder);
    expect([schema({ name }, to), writeSchemas('.', io(folder))]).toEqual([0, 0]);
    expect(to.printed.out).toBe(readFileSync(join(folder, `${name}.schema.json`), 'utf8'));
  });

  it('writes the schema of every file type', () => {
    expect(writeSchemas('schemas', io(folder))).toBe(0);
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
  const files = readdirSync(join(repo, 'strategies/examples')).filter((file) => file.endsWith('.yaml'));

  it.each(files)('are valid without changes: %s', (file) => {
    const to = io(repo);
    expect(validate({ files: [`strategies/examples/${file}`] }, to)).toBe(0);
    expect(to.printed.out).toContain(file.replace('.yaml', ''));
  });
});

describe('tranche init', () => {
  it('writes examples that are valid without changes', () => {
    const to = io(folder);
    expect(init({ folder: 'desk' }, to)).toBe(0);
    expect(to.printed.err).toContain('wrote desk/config/paper.yaml');
    expect(to.printed.err).toContain('next: npx tranche validate --config desk/config/paper.yaml');
    expect(validate({ config: 'desk/config/paper.yaml' }, io(folder))).toBe(0);
    expect(validate({ config: 'desk/config/dry-run.yaml' }, io(folder, { TRANCHE_TOKEN: 'x' }))).toBe(0);
    expect(loadVenueOptions('desk/config/venue.yaml', io(folder)).pairs['btcusd']?.maxUsd).toBe('250000');
  });

  it('prints the next command with its path quoted for the shell', () => {
    const to = io(folder);
    expect(init({ folder: "ann's dësk" }, to)).toBe(0);
    expect(to.printed.err).toContain(String.raw`validate --config 'ann'\''s dësk/config/paper.yaml'`);
  });

  it('never overwrites an existing file, and writes no other files if one exists', () => {
    expect(init({}, io(folder))).toBe(0);
    writeFileSync(join(folder, 'config/live.yaml'), 'mine');
    rmSync(join(folder, 'config/paper.yaml'));
    const to = io(folder);
    expect(init({}, to)).toBe(64);
    expect(to.printed.err).toContain(join(folder, 'config/live.yaml'));
    expect(readFileSync(join(folder, 'config/live.yaml'), 'utf8')).toBe('mine');
    expect(() => readFileSync(join(folder, 'config/paper.yaml'))).toThrow('ENOENT');
  });

  it.each([
    ['/proc/nothing', '/proc/nothing/config/paper.yaml cannot be written'],
    ['a-file', 'a-file/config/paper.yaml cannot be written'],
  ])('reports that files cannot be written to %s', (where, says) => {
    writeFileSync(join(folder, 'a-file'), '');
    expect(() => init({ folder: where }, io(folder))).toThrow(
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
    writeFileSync(join(folder, 'v.yaml'), 'prices: { btcusd: bars.csv }\n');
    expect(loadVenueOptions('v.yaml', io(folder)).prices).toEqual({ btcusd: join(folder, 'bars.csv') });
    writeFileSync(join(folder, 'v.yaml'), 'pairs:\n  btcusd: { start_prise: "1" }\n');
    expect(() => loadVenueOptions('v.yaml', io(folder))).toThrow(
      /v\.yaml:2:13[^]*did you mean "start_price"/u,
    );
  });
});
