import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { rightsProblems } from '../../src/app/strategies/rights-problems.ts';
import { strategyFiles } from '../../src/app/strategies/strategy-files.ts';
import { loadAll } from '../../src/app/strategies/strategies.ts';
import { instant } from '../../src/core/time.ts';
import type { StrategiesPort } from '../../src/engine/ports.ts';
import { aFolder } from '../support/folder.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/tranche.js', import.meta.url));
const TWAP = `id: a
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: "1.5", currency: btc }
duration: PT4H
slices: 48
`;
const MODULE = `id: own
kind: module
module: ./own.ts
pairs: [btcusd]
total_quantity: { amount: "1", currency: btc }
`;
const KERNEL = `import { defineKernel, z } from 'tranche/strategy';
export const kernel = defineKernel({
  params: z.strictObject({}),
  start: () => ({ state: {}, waits: [] }),
  step: (state) => ({ state, finished: true }),
});
`;
const LIVE = `mode: live
venue: { base_url: "http://127.0.0.1:1", token_file: ./token }
controls:
  max_order_quantity: { btcusd: "1" }
  max_order_notional: { amount: "1000", currency: usd }
  max_day_notional: { amount: "1000", currency: usd }
  collar_bps: 50
  pairs: [btcusd]
  sides: [buy]
`;

let folder = '';
const put = (name: string, text: string, mode = 0o600): void => {
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), mode);
};
const options = (): { env: Record<string, string>; cwd: string; now: ReturnType<typeof instant> } => ({
  env: {},
  cwd: folder,
  now: instant(Date.UTC(2026, 11, 1)),
});
beforeEach(() => {
  folder = aFolder();
  mkdirSync(join(folder, 'strategies'), 0o700);
  put('desk.yaml', 'mode: paper\nstrategies: ./strategies\n');
  put('token', 'a-token');
  put('strategies/a.yaml', TWAP);
});

/** The port through which a running desk reads its strategies. */
function running(): StrategiesPort {
  const { config, sections } = loadAll('desk.yaml', options());
  return strategyFiles({
    configFile: 'desk.yaml',
    options: options(),
    config,
    sections,
    warn: () => undefined,
  });
}

const tranche = (...args: readonly string[]): { status: number | null; output: string } => {
  const env = { PATH: process.env['PATH'] ?? '' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status, output: stdout + stderr };
};

describe.runIf(process.platform !== 'win32')('a special file in place of a strategy or config', () => {
  it('is rejected immediately by a reload if it is a named pipe', () => {
    const port = running();
    execFileSync('mkfifo', [join(folder, 'strategies/b.yaml')]);
    expect(port.read()).toEqual({
      problems: expect.stringContaining('it is a named pipe, not a regular file') as string,
    });
  });

  it('is rejected by a reload without being read if it is a sparse file of 1.5 GB', () => {
    const port = running();
    put('strategies/b.yaml', '');
    truncateSync(join(folder, 'strategies/b.yaml'), 1_500_000_000);
    const before = process.memoryUsage().rss;
    expect(port.read()).toEqual({ problems: expect.stringContaining('at most 262144 are read') as string });
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    rmSync(join(folder, 'strategies/b.yaml'));
  });

  it('is reported by validate, which does not read a device to its end', () => {
    const { status, output } = tranche('validate', '--config', '/dev/zero');
    expect(output).toContain('it is a device, not a regular file');
    expect(status).toBe(78);
  });
});

describe.runIf(process.platform !== 'win32')('a desk with files that other users can change', () => {
  const problems = (): readonly string[] => {
    const { strategies } = loadAll('desk.yaml', options());
    return rightsProblems('desk.yaml', strategies, folder);
  };

  it('reports each of them with the command that corrects it', () => {
    expect(problems()).toEqual([]);
    chmodSync(join(folder, 'desk.yaml'), 0o666);
    chmodSync(join(folder, 'strategies'), 0o777);
    chmodSync(join(folder, 'strategies/a.yaml'), 0o664);
    expect(problems()).toEqual(
      ['desk.yaml', 'strategies/a.yaml', 'strategies'].map((name) => {
        const path = join(folder, name);
        return `other users can change ${path}: run "chmod go-w ${path}"`;
      }),
    );
  });

  it('reports a module that other users can change', () => {
    put('strategies/own.yaml', MODULE);
    put('strategies/own.ts', KERNEL, 0o602);
    expect(problems()).toEqual([expect.stringContaining('strategies/own.ts')]);
  });

  it('does not start in live mode if other users can change a notification command', () => {
    put('page', '#!/bin/sh\n', 0o722);
    put(
      'desk.yaml',
      `${LIVE}strategies: ./strategies\noperate: { notify: { channels: [{ name: pager, type: command, run: [./page] }] } }\n`,
    );
    const { status, output } = tranche('run', '--config', 'desk.yaml');
    expect(output).toContain('live mode refuses to start');
    expect(output).toContain(`chmod go-w ${join(folder, 'page')}`);
    expect(status).toBe(78);
  });

  it('keeps its strategies in live mode if other users can change one at a reload', () => {
    put('desk.yaml', `${LIVE}strategies: ./strategies\n`);
    const port = running();
    chmodSync(join(folder, 'strategies/a.yaml'), 0o666);
    expect(port.read()).toEqual({ problems: expect.stringContaining('other users can change') as string });
  });
});

describe('a module in live mode', () => {
  it('is refused unless the config allows modules', () => {
    put('strategies/own.yaml', MODULE);
    put('strategies/own.ts', KERNEL);
    put('desk.yaml', `${LIVE}strategies: ./strategies\n`);
    expect(() => loadAll('desk.yaml', options())).toThrow('live mode does not run modules by default');
    put('desk.yaml', `${LIVE}strategies: ./strategies\nallow_modules: true\n`);
    expect(() => loadAll('desk.yaml', options())).not.toThrow('live mode does not run modules');
  });
});
