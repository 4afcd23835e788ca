/**
 * Drives twice the peak of a desk through the whole engine on virtual time, as RTS 6 Art. 10 asks once a year. Without a journal the
 * peaks are those that the venue's limits allow. Exit code 1 when an order executed twice, a fill was lost, a limit of the venue was broken
 * or the desk stopped itself; slices that did not fit are counted by reason.
 *
 * Run: `npm run stress [-- --journal sqlite:./var/live.db] [--months 6] [--peak-second N] [--peak-minute N] [--minutes 10] [--json]`
 */
import process from 'node:process';
import { inspect, parseArgs } from 'node:util';
import { OperatorError } from '../../src/core/errors.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, after, instant } from '../../src/core/time.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { stress } from './stress.ts';
import type { Peaks } from './stress.ts';

/** What the venue allows: ten quotes a second. */
const ALLOWED: Peaks = { second: 10, minute: 600 };
const MONTH_DAYS = 31;

const { values } = parseArgs({
  options: {
    journal: { type: 'string' },
    months: { type: 'string', default: '6' },
    'peak-second': { type: 'string' },
    'peak-minute': { type: 'string' },
    minutes: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
  },
});

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1 || value > 10_000)
    throw new OperatorError('usage', `--${name} ${text}: expected a whole number from 1 to 10000`);
  return value;
}

/** The largest number of these ascending times in any span that excludes its end. */
function mostWithin(times: readonly number[], spanMs: number): number {
  let [first, most] = [0, 0];
  for (const [i, at] of times.entries()) {
    while ((times[first] ?? at) <= at - spanMs) first++;
    most = Math.max(most, i - first + 1);
  }
  return most;
}

function peaksOfJournal(url: string): Peaks {
  const journal = openJournal(/^[a-z]+:/u.test(url) ? url : `sqlite:${url}`, { readOnly: true });
  try {
    const days = whole('months', values.months) * MONTH_DAYS;
    const from = after(instant(Date.now()), -days * DAY_MS);
    const times = Iterator.from(journal.read())
      .filter(({ at, body }) => at >= from && body.kind === 'intent')
      .map(({ at }) => at)
      .toArray();
    if (times.length === 0)
      throw new OperatorError('data', `${url} holds no order of the last ${values.months} months`);
    return { second: mostWithin(times, SECOND_MS), minute: mostWithin(times, MINUTE_MS) };
  } finally {
    journal.close();
  }
}

function run(): number {
  const found = values.journal === undefined ? ALLOWED : peaksOfJournal(values.journal);
  const second = values['peak-second'];
  const minute = values['peak-minute'];
  const peaks: Peaks = {
    second: second === undefined ? found.second : whole('peak-second', second),
    minute: minute === undefined ? found.minute : whole('peak-minute', minute),
  };
  const outcome = stress(peaks, whole('minutes', values.minutes));
  const isPassed = outcome.faults.length === 0 && outcome.tooMany === 0 && outcome.control === 'active';
  if (values.json) say(JSON.stringify({ peaks, outcome, isPassed }));
  else {
    say(`twice the peak of ${peaks.second} orders in a second and ${peaks.minute} in a minute:`);
    say(inspect(outcome));
    say(isPassed ? 'passed: nothing twice, nothing lost, no limit broken' : 'FAILED');
  }
  return isPassed ? 0 : 1;
}

try {
  process.exitCode = run();
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 64;
}
