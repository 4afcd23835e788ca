import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { allCrashPoints, seeds } from './crew.ts';
import { BUDGET, killMutants, killedLine } from './kill.ts';
import { record, writeTable } from './killed.ts';
import { scenarioOf, scenarios } from './registry.ts';
import { clockText, seedText } from './scenario.ts';
import type { Plan, Regression, RunResult, Scenario } from './scenario.ts';
import { shrink } from './shrink.ts';
import type { Failure, Tally } from './tally.ts';

const HELP = `npm run simulate -- [options]

  --b N, --c N, --d N
                   seeds of simulation B, C and D (default: 10 000, 2 500 and 4 000)
  --from N         the first seed (1)
  --minutes M      stops each simulation after M minutes
  --workers K      number of processes (default: one per core)
  --json FILE      writes the results as JSON, also every minute while it runs
  --crash-points   every single crash and every pair of crashes of simulation B
  --mutants        breaks one rule at a time; each must be detected. Names may follow (default: all). --write puts the
                   results into docs/simulation.md
  --ci             5 000, 2 000 and 2 000 seeds, their repetition with equal results, and every crash point; no mutants
  --seed 0x…       one seed of --scenario B (or C, D); with --trace line by line
  --replay FILE    a plan in test/simulation/regressions
`;

const write = (text: string): void => void process.stdout.write(`${text}\n`);
const count = (value: number): string => Math.round(value).toLocaleString('en-GB').replaceAll(',', ' ');

/** How many parts were as they must be. Each counts as one test. */
const score = { passed: 0, failed: 0 };
const judged = (name: string, isGood: boolean): void => {
  if (isGood) score.passed++;
  else {
    score.failed++;
    write(`=== ${name} went wrong`);
  }
};

/** Seeds in CI: enough to judge what must sometimes happen. */
const CI = { B: 5_000, C: 2_000, D: 2_000 } as const;

/** What goes into the file of `--json`, by simulation. */
const noted: Record<string, unknown> = {};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    b: { type: 'string' },
    c: { type: 'string' },
    d: { type: 'string' },
    from: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    workers: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
    seed: { type: 'string' },
    scenario: { type: 'string', default: 'B' },
    trace: { type: 'boolean', default: false },
    replay: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    'crash-points': { type: 'boolean', default: false },
    ci: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const workers = Number(values.workers ?? availableParallelism());

if (values.help) write(HELP);
else if (values.replay !== undefined)
  replay((JSON.parse(readFileSync(values.replay, 'utf8')) as Regression).plan);
else if (values.seed !== undefined) replay(Number(values.seed));
else await everything();
process.exitCode = score.failed > 0 ? 1 : 0;

/** One history, line by line if wanted. */
function replay(from: number | Plan): void {
  const scenario = scenarioOf(typeof from === 'number' ? values.scenario : from.scenario);
  const result = scenario.run(from, values.trace ? { trace: write } : {});
  const [violation] = result.violations;
  if (violation === undefined)
    write(
      `nothing goes wrong: ${result.events} events in ${clockText(result.virtualMs)}, trace ${result.traceHash}`,
    );
  else write(failureText(scenario, { seed: result.plan.seed, violation }, result));
  judged('replay', violation === undefined);
}

async function everything(): Promise<void> {
  const wanted: Readonly<Record<string, string | undefined>> = {
    B: values.b,
    C: values.c,
    D: values.d,
  };
  const isNamed = Object.values(wanted).some((number) => number !== undefined);
  const isOnly = (values.mutants || values['crash-points']) && !isNamed && !values.ci;
  if (!isOnly) {
    for (const [letter, scenario] of scenarios) {
      const seedsWanted = Number(wanted[letter] ?? (isNamed ? 0 : (values.ci ? CI : BUDGET)[letter]));
      if (seedsWanted > 0) await playAll(scenario, seedsWanted);
    }
  }
  if (values['crash-points'] || values.ci) await crashEverywhere();
  if (values.mutants) await mutate();
  write(`\n${score.passed} passed, ${score.failed} failed, 0 skipped`);
}

async function playAll(scenario: Scenario, number: number): Promise<void> {
  write(`=== simulation ${scenario.name}: ${scenario.title}`);
  const began = performance.now();
  const tally = await seeds(
    {
      scenario: scenario.name,
      workers,
      from: Number(values.from),
      count: number,
      maxMs: values.minutes === undefined ? undefined : Number(values.minutes) * 60_000,
    },
    progress(scenario, number, began),
  );
  write(tallyText(tally, (performance.now() - began) / 1_000));
  note(scenario, tally, { began, isOver: true });
  for (const failure of tally.failures.slice(0, 5)) explain(scenario, failure);
  judged(`simulation ${scenario.name}`, tally.failed === 0);
  judged(`determinism of simulation ${scenario.name}`, tally.astray.length === 0);
  const never = scenario.sometimes.filter((probe) => tally.probes[probe] === undefined);
  if (tally.runs < scenario.enough) return;
  for (const probe of never) write(`never happened: ${probe}`);
  judged(`what must sometimes happen in simulation ${scenario.name}`, never.length === 0);
}

/** On a terminal a line that changes, else one a minute. */
function progress(scenario: Scenario, number: number, began: number): (sofar: Tally) => void {
  let saidAt = began;
  return (sofar) => {
    const seconds = (performance.now() - began) / 1_000;
    const line = `${count(sofar.runs)} of ${count(number)} seeds in ${seconds.toFixed(0)} s, ${sofar.failed} violations, largest worker ${(sofar.rssMax / 1e6).toFixed(0)} MB`;
    if (process.stdout.isTTY) process.stdout.write(`\r${line} `);
    if (performance.now() - saidAt < 60_000) return;
    saidAt = performance.now();
    if (!process.stdout.isTTY) write(line);
    note(scenario, sofar, { began, isOver: false });
  };
}

/** Into the file that was asked for, over what stood there: a run that is cut short leaves what it had. */
function note(scenario: Scenario, tally: Tally, how: { began: number; isOver: boolean }): void {
  if (values.json === undefined) return;
  noted[scenario.name.toUpperCase()] = {
    title: scenario.title,
    commit: commit(),
    node: process.version,
    workers,
    isOver: how.isOver,
    from: Number(values.from),
    seeds: tally.runs,
    seconds: Math.round((performance.now() - how.began) / 1_000),
    seedsPerMinuteAndCore: Math.round(perMinuteOf(tally)),
    simulatedHours: Math.round(tally.virtualMs / 3_600_000),
    simulatedYears: Number(yearsOf(tally)),
    events: tally.events,
    crashes: tally.crashes,
    playedTwice: tally.twice,
    wentAnotherWay: tally.astray.length,
    violations: tally.failed,
    failures: tally.failures,
    largestWorkerBytes: tally.rssMax,
    faults: sorted(tally.faults),
    sometimes: sorted(tally.probes),
    never: scenario.sometimes.filter((probe) => tally.probes[probe] === undefined),
  };
  writeFileSync(values.json, `${JSON.stringify(noted, undefined, 2)}\n`);
}

function perMinuteOf(tally: Tally): number {
  return (tally.runs + tally.twice) / (tally.cpuMs / 60_000);
}

function yearsOf(tally: Tally): string {
  return (tally.virtualMs / 31_557_600_000).toFixed(2);
}

function sorted(of: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(of).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function tallyText(tally: Tally, seconds: number): string {
  const list = (of: Readonly<Record<string, number>>): string =>
    Object.entries(sorted(of))
      .map(([name, times]) => `  ${name.padEnd(48)} ${count(times).padStart(12)}`)
      .join('\n');
  return [
    `${count(tally.runs)} seeds in ${seconds.toFixed(0)} s: ${count(perMinuteOf(tally))} seeds/min/core of CPU time, largest worker ${(tally.rssMax / 1e6).toFixed(0)} MB`,
    `${count(tally.events)} events, ${(tally.virtualMs / 3_600_000).toFixed(0)} simulated hours (${yearsOf(tally)} years), ${count(tally.crashes)} crashes`,
    `${count(tally.twice)} seeds played twice, ${tally.astray.length} went another way`,
    `faults by kind:\n${list(tally.faults)}`,
    `seeds in which this happened:\n${list(tally.probes)}`,
    `violations: ${tally.failed}`,
  ].join('\n');
}

/** What went wrong, how to see it again, and the smallest plan that shows it. */
function explain(scenario: Scenario, failure: Failure): void {
  const result = scenario.run(failure.seed);
  const { invariant } = failure.violation;
  const small = shrink(result.plan, (plan) => scenario.run(plan).violations[0]?.invariant === invariant);
  const name = `${invariant.toLowerCase()}-${seedText(failure.seed).slice(2)}`;
  const file = `test/simulation/regressions/${scenario.name.toLowerCase()}-${name}.json`;
  mkdirSync('test/simulation/regressions', { recursive: true });
  const regression: Regression = {
    invariant,
    mutant: process.env['SIMULATION_MUTANT'],
    plan: scenario.run(small).plan,
  };
  writeFileSync(file, `${JSON.stringify(regression)}\n`);
  const faults = `${result.plan.faults.length} faults -> ${small.faults.length}`;
  write(`${failureText(scenario, failure, result)}\n  shrunk : ${faults}, saved ${file}`);
}

function failureText(scenario: Scenario, { seed, violation }: Failure, { plan }: RunResult): string {
  void plan;
  return [
    `FAIL ${violation.invariant} ${violation.detail}`,
    `  seed=${seedText(seed)} scenario=${scenario.name} commit=${commit()} node=${process.version} event=${violation.event} virtual=${clockText(violation.atMs)}`,
    `  replay : npm run simulate -- --scenario ${scenario.name} --seed ${seedText(seed)} --trace`,
  ].join('\n');
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

async function crashEverywhere(): Promise<void> {
  write('=== crash points of simulation B');
  const tally = await allCrashPoints(workers);
  write(`${count(tally.singles)} single crashes, ${count(tally.pairs)} pairs, violations: ${tally.failed}`);
  for (const { crashAt, violation, plan } of tally.failures.slice(0, 5))
    write(
      `FAIL ${violation.invariant} ${violation.detail}\n  crashes at steps ${crashAt.join(' and ')} of ${JSON.stringify(plan)}`,
    );
  judged('crash points', tally.failed === 0);
}

async function mutate(): Promise<void> {
  write('=== mutants: each breaks one rule, and must be seen');
  const all = await killMutants(positionals, workers, (killed) => {
    write(killedLine(killed));
    if (values.write) record(killed);
  });
  if (values.write) await writeTable();
  const alive = all.filter(({ by }) => by === undefined);
  write(
    `${all.length - alive.length} of ${all.length} mutants killed${alive.length === 0 ? '' : `; alive: ${alive.map(({ mutant }) => mutant.name).join(', ')}`}`,
  );
  judged('mutants', alive.length === 0 && all.length >= Math.max(1, positionals.length));
}
