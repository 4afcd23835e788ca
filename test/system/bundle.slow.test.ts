import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { guideCode } from '../docs/module-guide.ts';
import { strategies } from '../../src/strategy/registry.ts';
import { normalAt } from '../../src/simulator/market/random.ts';
import { anInstallation } from './support/installation.ts';
import { finish } from './support/program.ts';

const CONFIG = `
mode: paper
venue:
  sell_path: /v1/orders/sell
  simulated: { accounts: [{ balances: { usd: '250000', btc: '1' } }] }
controls:
  max_order_notional: { amount: '100000', currency: usd }
  max_day_notional: { amount: '1000000', currency: usd }
  collar_bps: 100
journal: 'memory:'
strategies: [twap.yaml]
`;
const TWAP = `
id: day
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
duration: PT8H
slices: 8
`;

/** A day and a half of minutes. */
function csv(): string {
  let logarithm = Math.log(60_000);
  const rows = Array.from({ length: 2_160 }, (_, n) => {
    logarithm += 0.002 * normalAt(1, 1, n);
    const close = Math.exp(logarithm).toFixed(2);
    return `${Date.UTC(2026, 0, 5) + n * 60_000},${close},${close},${close},${close},1`;
  });
  return ['timestamp_ms,open,high,low,close,volume', ...rows].join('\n');
}

const folder = mkdtempSync(join(tmpdir(), 'tranche-bundle-'));
const cache = join(folder, 'cache');

beforeAll(() => {
  anInstallation(folder);
  const files = {
    'config.yaml': CONFIG,
    'twap.yaml': TWAP,
    'dip-buyer.yaml': guideCode('dip-buyer.yaml'),
    'dip-buyer.ts': guideCode('dip-buyer.ts'),
    'btc.csv': csv(),
    // Causes an error for each missing field, with its description.
    'bare.yaml': [...strategies.keys()].map((kind) => `id: ${kind}\nkind: ${kind}\n`).join('---\n'),
    'bare-config.yaml': 'mode: paper\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}, 300_000);

beforeEach(() => {
  rmSync(cache, { recursive: true, force: true });
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const PROGRAM = join(folder, 'node_modules/tranche/bin/tranche.js');
const installed = async (...args: readonly string[]): Promise<Ran> => await backtest(args, PROGRAM);
const fromSources = async (...args: readonly string[]): Promise<Ran> => await backtest(args);

/** Files with compiled code. */
function kept(): readonly string[] {
  const names = readdirSync(cache, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /tranche-[0-9a-f]{32}\.code/u.test(name)).map((name) => join(cache, name));
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const lineOf = (args: readonly string[]): readonly string[] =>
  ['backtest', ...args, '--config', 'config.yaml', '--data', 'btcusd=btc.csv', '--json']; // prettier-ignore

async function backtest(args: readonly string[], program?: string): Promise<Ran> {
  const line = lineOf(args);
  const env = { XDG_CACHE_HOME: cache };
  const ended = await finish(line, { cwd: folder, env, ...(program !== undefined && { program }) });
  const { code, stdout, stderr } = ended;
  // Messages contain the command with which the program was started.
  return { code, stdout, stderr: stderr.replaceAll('npx tranche', 'tranche') };
}

it('the installed program gives the same output as the sources, with and without cached code', async () => {
  const wanted = await fromSources('twap.yaml');
  expect([wanted.code, wanted.stderr]).toEqual([0, '']);
  expect(kept()).toEqual([]);
  expect(await installed('twap.yaml')).toEqual(wanted);

  const [file = '', ...more] = kept();
  expect(more).toEqual([]);
  const first = statSync(file);
  expect(first.mode & 0o077).toBe(0);
  expect(await installed('twap.yaml')).toEqual(wanted);
  expect(statSync(file).mtimeMs).toBe(first.mtimeMs);

  // Another command line compiles other functions, which are added to the file.
  const other = await fromSources('dip-buyer.yaml');
  expect([other.code, other.stderr]).toEqual([0, '']);
  expect(await installed('dip-buyer.yaml')).toEqual(other);
  expect(statSync(file).size).toBeGreaterThan(first.size);
  expect(await installed('dip-buyer.yaml')).toEqual(other);
  expect(await installed('twap.yaml')).toEqual(wanted);
});

it('the installed program recompiles its code if the cache file is damaged or writable by others', async () => {
  const wanted = await installed('twap.yaml');
  expect(wanted.code).toBe(0);
  const [file = ''] = kept();
  const whole = readFileSync(file);
  for (const at of [0, 5, whole.length >> 1]) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 0x10;
    writeFileSync(file, damaged);
    expect(await installed('twap.yaml')).toEqual(wanted);
    expect(readFileSync(file).equals(damaged)).toBe(false);
  }
  writeFileSync(file, whole.subarray(0, 1_000));
  expect(await installed('twap.yaml')).toEqual(wanted);
  chmodSync(file, 0o666);
  const open = statSync(file);
  expect(await installed('twap.yaml')).toEqual(wanted);
  // Not read, but replaced.
  expect(statSync(file).ino).not.toBe(open.ino);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('the installed program runs without a cache if the path of the cache folder is a file', async () => {
  writeFileSync(cache, 'no folder');
  const { code, stderr } = await installed('twap.yaml');
  expect([code, stderr]).toEqual([0, '']);
  expect(readFileSync(cache, 'utf8')).toBe('no folder');
});

it('the installed program exits with code 0 if its output pipe is closed', async () => {
  const child = spawn(process.execPath, [PROGRAM, ...lineOf(['twap.yaml'])], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.destroy();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

it('the installed program reports the same errors as the sources, and writes exports', async () => {
  for (const args of [
    ['twap.yaml', '--nonsense'],
    ['nowhere.yaml'],
    ['bare.yaml'],
    ['twap.yaml', '--config', 'bare-config.yaml'],
    ['twap.yaml', '--from', '2020-01-01'],
    ['twap.yaml', '--data', 'ethusd=config.yaml'],
    ['--help'],
  ]) {
    const wanted = await fromSources(...args);
    expect(await installed(...args)).toEqual(wanted);
    expect(wanted.stderr).not.toContain('bug');
  }
  writeFileSync(join(folder, 'dip-buyer.ts'), `import 'node:fs';\n${guideCode('dip-buyer.ts')}`);
  const broken = await fromSources('dip-buyer.yaml');
  expect(broken.code).toBe(78);
  expect(await installed('dip-buyer.yaml')).toEqual(broken);

  const written = await installed('twap.yaml', '--out', 'found', '--journal', 'desk.db');
  expect(written.code).toBe(0);
  expect(readdirSync(join(folder, 'found'))).toEqual(
    expect.arrayContaining(['fills.parquet', 'report.html']),
  );
});
