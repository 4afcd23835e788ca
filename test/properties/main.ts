import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { hand, play } from './crew.ts';
import type { Found } from './crew.ts';
import { mutants } from './mutants.ts';
import { ODDITIES } from './oddities.ts';
import { Broken, Player } from './play.ts';

const HELP = `npm run properties -- [options]

Random sets of account rows: the rule about orders in doubt against the truth, and against a plain second rule.

  --sets N         how many (1 000 000)
  --from N         the first seed (1)
  --workers K      number of processes (default: one per core)
  --counts         how often each oddity occurred
  --seed S         one set, line by line
  --mutants        breaks one line of the rule at a time; each must be noticed within a million sets. Names may follow
                   (default: all). --write puts the results into killed.json
`;

/** How many sets a pull request plays: a mutant must be killed within them. */
export const BUDGET = 1_000_000;
const KILLED = new URL('killed.json', import.meta.url);
/** From so many sets on, every oddity must have occurred. */
const ENOUGH = 20_000;

const write = (text: string): void => void process.stdout.write(`${text}\n`);
const number = (value: number): string => Math.round(value).toLocaleString('en-GB').replaceAll(',', ' ');
const score = { passed: 0, failed: 0 };
const judged = (name: string, isGood: boolean): void => {
  score[isGood ? 'passed' : 'failed'] += 1;
  if (!isGood) write(`=== ${name} went wrong`);
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sets: { type: 'string', default: String(BUDGET) },
    from: { type: 'string', default: '1' },
    workers: { type: 'string' },
    seed: { type: 'string' },
    counts: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const workers = Number(values.workers ?? availableParallelism());

if (values.help) write(HELP);
else if (values.seed !== undefined) show(Number(values.seed));
else if (values.mutants) await killAll();
else await playAll();
process.exitCode = score.failed > 0 ? 1 : 0;

function show(seed: number): void {
  try {
    new Player(() => undefined, write).play(seed);
    write('the set holds');
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    write(`broken: ${error.message}`);
    score.failed += 1;
  }
}

async function playAll(): Promise<void> {
  const sets = Number(values.sets);
  const began = performance.now();
  let saidAt = began;
  const line = (found: Found): string => {
    const seconds = (performance.now() - began) / 1_000;
    return `${number(found.played)} of ${number(sets)} sets in ${seconds.toFixed(0)} s, ${number(found.played / seconds)} a second, ${found.broken} broken${found.first === undefined ? '' : `, first by seed ${found.first.seed}`}`;
  };
  const found = await play({ sets, from: Number(values.from), workers }, (sofar) => {
    if (performance.now() - saidAt < 10_000) return;
    saidAt = performance.now();
    write(line(sofar));
  });
  write(line(found));
  if (values.counts) for (const [index, name] of ODDITIES.entries()) write(`${number(found.counts[index] ?? 0).padStart(14)}  ${name}`);
  if (found.first !== undefined) {
    write(`seed ${found.first.seed}: ${found.first.why}`);
    write(`npm run properties -- --seed ${found.first.seed}`);
  }
  judged('the rule about orders in doubt', found.broken === 0);
  if (sets >= ENOUGH) {
    const never = ODDITIES.filter((_, index) => found.counts[index] === 0);
    for (const name of never) write(`never happened: ${name}`);
    judged('what must sometimes happen', never.length === 0);
  }
  write(`\n${score.passed} passed, ${score.failed} failed, 0 skipped`);
} // prettier-ignore

/** Plays each mutant until something is seen to go wrong. */
async function killAll(): Promise<void> {
  const known = JSON.parse(readFileSync(KILLED, 'utf8')) as Record<string, { seed: number; why: string }>;
  const queue = mutants.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const next = async (): Promise<void> => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const { name, rule } = mutant;
      const { first } = await hand({ from: 1, step: 1, sets: BUDGET, isFirstEnough: true }, name);
      write(`${name.padEnd(30)} ${first === undefined ? 'LIVES' : `seed ${String(first.seed).padStart(7)}  ${first.why}`}  (${rule})`);
      delete known[name];
      if (first !== undefined) known[name] = first;
      judged(name, first !== undefined);
    }
  };
  await Promise.all(Array.from({ length: workers }, next));
  if (values.write) {
    const kept = mutants.flatMap(({ name }) => (known[name] === undefined ? [] : [[name, known[name]] as const]));
    writeFileSync(KILLED, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`);
  }
  write(`\n${score.passed} passed, ${score.failed} failed, 0 skipped`);
} // prettier-ignore
