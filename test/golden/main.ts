/**
 * Pins what the product does: journal hashes of backtests, traces of the simulations, and the texts of machine-readable
 * outputs. A change that must not alter behaviour leaves every line of `expected.txt` as it is; a change that does alter
 * it rewrites the file in a commit of its own.
 *
 * Run: `npm run golden` compares, `npm run golden -- --ci` compares a twelfth of it in less than three minutes,
 * `npm run golden -- --write` rewrites `expected.txt`
 * (with `--only`, just the lines that begin so).
 * Options: `--only PREFIX` (such as `backtest` or `simulation B`), `--workers N`.
 * Exit code 1 when a line differs, is missing, or is new.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { backtestJobs, writeInputs } from './backtests.ts';
import type { Job } from './job.ts';
import { outputJobs } from './outputs.ts';
import { simulationJobs } from './simulations.ts';

const EXPECTED = new URL('expected.txt', import.meta.url);

const SLICE = 12;

const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    ci: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    workers: { type: 'string', default: String(availableParallelism()) },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'tranche-golden-'));
try {
  writeInputs(folder);
  const all = [...simulationJobs(), ...backtestJobs(), ...outputJobs()];
  const jobs = all.filter(({ name }, n) => name.startsWith(values.only) && (!values.ci || isInSlice(n, all)));
  const lines = (await runAll(jobs, Number(values.workers))).toSorted();
  process.exitCode = values.write ? write(lines) : compare(lines, jobs);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Every twelfth job, and the last one, which checks the outputs. */
function isInSlice(n: number, all: readonly Job[]): boolean {
  return n % SLICE === 0 || n === all.length - 1;
}

/** Runs the jobs, so many at a time, in the order of the list. */
async function runAll(jobs: readonly Job[], workers: number): Promise<string[]> {
  const waiting = [...jobs];
  const lines: string[] = [];
  const work = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      lines.push(...(await job.run(folder)));
      if (lines.length % 50 === 0)
        process.stderr.write(`${jobs.length - waiting.length} of ${jobs.length}\n`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return lines;
}

function write(lines: readonly string[]): number {
  // What was not run keeps its line.
  const others = expectedLines().filter((line) => !line.startsWith(values.only));
  const whole = values.only === '' ? lines : [...others, ...lines].toSorted();
  const before = new Set(expectedLines());
  for (const line of lines) if (!before.has(line)) process.stdout.write(`changed: ${parts(line)[0]}\n`);
  writeFileSync(EXPECTED, `${whole.join('\n')}\n`);
  process.stdout.write(`${lines.length} lines written\n`);
  return 0;
}

/** Each line is a name, a tab and a hash. */
function compare(lines: readonly string[], jobs: readonly Job[]): number {
  const expected = new Map(
    expectedLines()
      .filter((line) => line.startsWith(values.only))
      .map(parts)
      // Without --ci, a line that no job adds any more is missing.
      .filter(([name]) => !values.ci || jobs.some((job) => job.adds(name))),
  );
  const found = new Map(lines.map(parts));
  const wrong: string[] = [];
  let passed = 0;
  for (const [name, hash] of expected) {
    const now = found.get(name);
    if (now === undefined) wrong.push(`missing: ${name}`);
    else if (now !== hash) wrong.push(`differs: ${name} (${hash} expected, ${now} found)`);
    else passed++;
  }
  for (const name of found.keys()) if (!expected.has(name)) wrong.push(`new: ${name}`);
  for (const line of wrong) process.stdout.write(`${line}\n`);
  process.stdout.write(`${passed} passed, ${wrong.length} failed, 0 skipped\n`);
  return wrong.length === 0 ? 0 : 1;
}

function expectedLines(): string[] {
  return readFileSync(EXPECTED, 'utf8').trimEnd().split('\n');
}

function parts(line: string): [string, string] {
  const [name = '', hash = ''] = line.split('\t');
  return [name, hash];
}
