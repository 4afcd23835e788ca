/** Prints the hashes of traces, ten seeds a line. Run: `node test/golden/traces.ts B|C FIRST COUNT`. */
import { scenarioOf } from '../simulation/registry.ts';
import { line } from './job.ts';

const SEEDS_A_LINE = 10;

const [letter = 'B', first = '1', count = '10'] = process.argv.slice(2);
const scenario = scenarioOf(letter);
const end = Number(first) + Number(count);
for (let from = Number(first); from < end; from += SEEDS_A_LINE) {
  const hashes: string[] = [];
  for (let seed = from; seed < Math.min(end, from + SEEDS_A_LINE); seed++)
    hashes.push(scenario.run(seed).traceHash.slice(0, 8));
  process.stdout.write(`${line(`simulation ${letter} from seed ${from}`, hashes.join(' '))}\n`);
}
