/**
 * Measures short commands from start to end, and an empty Node process in the same run: a backtest over a cached tape that prints
 * its report, a check of the config, and the version. The commands run from an installed package, which this benchmark builds; one
 * backtest also runs from the sources, as in a checkout. "Cold" means a new process: the tape is already imported and the code is
 * compiled, in a folder of this benchmark, as after the first use of the program. With `--check`, exit code 1 when an installed
 * backtest takes more than 6 times as long as the empty process.
 *
 * Run: `node bench/backtest-cold.ts [--rounds N] [--check] [--json]`
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../scripts/bundle.ts';
import { generateTape } from '../src/research/tape/generate.ts';
import { columnNames } from '../src/research/tape/tape.ts';
import { HOUR_MS, MINUTE_MS, instant } from '../src/core/time.ts';
import { ownEnvironment } from './daemon.ts';
import { median, table } from './measure.ts';
import { backtestConfig } from '../test/app/support/desk-config.ts';

const TARGET = 6;
const at = process.argv.indexOf('--rounds');
const ROUNDS = at < 0 ? 15 : Number(process.argv[at + 1]);
const root = fileURLToPath(new URL('../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'));
const installed = join(folder, 'node_modules/tranche');
const PROGRAM = join(installed, 'bin/tranche.js');
const CHECKOUT = join(root, 'bin/tranche.js');
const env = ownEnvironment({ XDG_CACHE_HOME: join(folder, 'cache') });

const CONFIG = backtestConfig({ balances: { usd: '2500000', btc: '1' }, strategies: 'twap.yaml' });
const TWAP = `
id: day
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '2', currency: btc }
duration: P1D
slices: 24
`;
const DCA = `
id: monthly
kind: recurring
pair: btcusd
side: buy
each_notional: { amount: '1000', currency: usd }
schedule: { cron: '0 9 1 * *', time_zone: UTC }
`;

function writeBars(name: string, rows: number, barMs: number): void {
  const tape = generateTape({
    pair: 'btcusd',
    rows,
    barMs,
    startsAt: instant(Date.UTC(2025, 0)),
    seed: 'bench',
    startPrice: 20_000,
    volatility: 0.02,
    correlation: 0,
  });
  const lines = ['timestamp_ms,open,high,low,close,volume'];
  for (let row = 0; row < rows; row++) lines.push(columnNames.map((key) => tape[key][row]).join(','));
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
}

/** Builds the package and installs it where npm would. */
async function install(): Promise<void> {
  mkdirSync(installed, { recursive: true });
  for (const part of ['package.json', 'bin'])
    cpSync(join(root, part), join(installed, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
  const dist = join(installed, 'dist');
  const line = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.dist.json', '--outDir', dist];
  const { status, stdout } = spawnSync(process.execPath, line, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`tsc: ${stdout}`);
  await bundle(dist);
}

/** Returns the time from before the process starts until it has ended and its output is read, ms. */
function elapsed(line: readonly string[]): number {
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, line, { cwd: folder, env, maxBuffer: 1e8 });
  const ms = performance.now() - begun;
  if (status !== 0) throw new Error(`${line.join(' ')}: ${stderr.toString()}`);
  return ms;
}

const backtest = (strategy: string, data: string, program = PROGRAM): readonly string[] =>
  [program, 'backtest', strategy, '--config', 'config.yaml', '--data', `btcusd=${data}`, '--json']; // prettier-ignore

const EMPTY = 'an empty process (node -e 0)';
const commands: ReadonlyMap<string, readonly string[]> = new Map([
  [EMPTY, ['-e', '0']],
  ['tranche --version', [PROGRAM, '--version']],
  ['tranche validate', [PROGRAM, 'validate', '--config', 'config.yaml']],
  ['backtest: 24 slices of a day, a year of minutes', backtest('twap.yaml', 'minutes.csv')],
  ['backtest: 12 monthly buys, a year of minutes', backtest('dca.yaml', 'minutes.csv')],
  ['backtest: 24 slices of a day, a year of hours', backtest('twap.yaml', 'hours.csv')],
  ['backtest: 12 monthly buys, a year of hours', backtest('dca.yaml', 'hours.csv')],
  ['the same in a checkout', backtest('dca.yaml', 'hours.csv', CHECKOUT)],
]);

async function measure(): Promise<void> {
  await install();
  writeBars('minutes.csv', 525_600, MINUTE_MS);
  writeBars('hours.csv', 8_760, HOUR_MS);
  for (const [name, text] of Object.entries({ 'config.yaml': CONFIG, 'twap.yaml': TWAP, 'dca.yaml': DCA }))
    writeFileSync(join(folder, name), text);
  const times = new Map([...commands.keys()].map((name) => [name, [] as number[]]));
  // The first two rounds do not count: the very first imports the tapes and fills the cache of compiled code.
  for (let round = -2; round < ROUNDS; round++) {
    for (const [name, line] of commands) {
      const ms = elapsed(line);
      if (round >= 0) times.get(name)?.push(ms);
    }
  }
  const floor = times.get(EMPTY) ?? [];
  const results = [...times].map(([what, each]) => ({
    what,
    medianMs: median(each),
    bestMs: Math.min(...each),
    timesEmpty: median(each) / median(floor),
    timesEmptyBest: Math.min(...each) / Math.min(...floor),
  }));
  const judged = results.filter(({ what }) => what.startsWith('backtest'));
  const reached = judged.every(({ timesEmpty }) => timesEmpty <= TARGET);
  if (process.argv.includes('--check') && !reached) process.exitCode = 1;
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ bench: 'backtest-cold', target: TARGET, reached, results }));
    return;
  }
  console.log(
    table(
      results.map(({ what, medianMs, bestMs, timesEmpty, timesEmptyBest }) => ({
        what,
        ms: medianMs.toFixed(0),
        best: bestMs.toFixed(0),
        timesEmpty: timesEmpty.toFixed(1),
        bestTimesEmpty: timesEmptyBest.toFixed(1),
      })),
    ),
  );
  console.log(`target: a backtest in ${TARGET} times an empty process: ${reached ? 'reached' : 'MISSED'}`);
}

try {
  await measure();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
