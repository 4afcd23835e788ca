/**
 * Writes the journal that later versions must still read: `node scripts/golden-journal.ts`, once for each layout of the file. A desk
 * in virtual time, with fills, cancels, a pause, and a doubt that is open when its process dies.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MINUTE_MS, SECOND_MS, instant } from '../src/core/time.ts';
import { SCHEMA_VERSION } from '../src/journal/sqlite/database.ts';
import { sqliteJournal } from '../src/journal/sqlite/sqlite.ts';
import { faultyVenue } from '../test/engine/faulty-venue.ts';
import { START, aBench, aStrategy, aTwap } from '../test/engine/harness.ts';

const folder = join(import.meta.dirname, '../test/fixtures/journals');
mkdirSync(folder, { recursive: true });
const file = join(folder, `v${SCHEMA_VERSION}.db`);
if (existsSync(file)) throw new Error(`${file} is there: a released journal is never made anew`);

const strategies = [
  aTwap('buys', { slices: 6, duration: 'PT6M' }),
  aTwap('sells', { slices: 3, duration: 'PT6M', side: 'sell' }),
  aStrategy('balanced', 'rebalance', {
    target_weights: { btc: '0.5', usd: '0.5' },
    drift_threshold: '0.05',
    valuation_tolerance: '0.5',
  }),
];
const journal = sqliteJournal(file);
const venue = { cancelProbability: 0.3, accounts: [{ balances: { usd: '1000000', btc: '16.6' } }] };
const first = aBench({ strategies, journal, venue, seed: 'golden' });
first.start();
first.clock.run(instant(START + 90 * SECOND_MS));
first.operator$.next({ do: 'pause', by: 'ops', why: 'a look at the first fills' });
first.clock.run(instant(START + 100 * SECOND_MS));
first.operator$.next({ do: 'resume', by: 'ops', why: 'all is well' });
first.clock.run(instant(START + 2 * MINUTE_MS));
first.operator$.next({ do: 'drain', why: 'upgrade' });
first.clock.run(instant(START + 130 * SECOND_MS));
const { clock, exchange } = first;
const second = aBench({
  strategies,
  journal,
  clock,
  exchange,
  wrap: faultyVenue({ order: () => (clock.wall() > START + 3.9 * MINUTE_MS ? 'answer lost' : undefined) }),
});
second.start();
clock.run(instant(START + 4.5 * MINUTE_MS));
second.kill();
// For `test/journal/golden.test.ts`.
console.log(journal.head());
journal.close();
for (const end of ['.lock']) rmSync(file + end, { force: true });
