/**
 * Sums the figures of `test/custody/watch.ts` over a whole test run. Exit code 1 when a token leaked, or none was searched for.
 *
 * Run: `CANARY_LOG=file npm test; npm run custody -- file`
 */
import { readFileSync } from 'node:fs';

interface Figures {
  readonly tokens: number;
  readonly places: number;
  readonly searched: number;
  readonly leaks: number;
}

const [, , file = ''] = process.argv;
const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
const all = lines.map((line) => JSON.parse(line) as Figures); // oxlint-disable-line typescript/no-unsafe-type-assertion -- the watch wrote it
const sum = (name: keyof Figures): number => all.reduce((total, figures) => total + figures[name], 0);
const [tokens, leaks] = [sum('tokens'), sum('leaks')];
console.log(
  `${tokens} tokens looked for in ${sum('places')} texts (${(sum('searched') / 1e6).toFixed(1)} MB): ${leaks} found`,
);
process.exitCode = tokens > 0 && leaks === 0 ? 0 : 1;
