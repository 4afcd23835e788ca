/**
 * Measures how long the books of a million fills take, from the journal to the file for hledger, and in the same run a bare check of the
 * same chain. Two thirds of the fills are buys. Exit code 1 when the target is missed.
 *
 * With `--closed` the period is closed first, so that the export also recomputes its hash.
 *
 * Run: `node bench/accounting.ts [--closed] [--fills N] [--method fifo|lifo|hifo|average|pool] [--json]`
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { toObservable } from '../src/engine/maybe-async.ts';
import { closeBooks } from '../src/app/accounting/close-books.ts';
import { exportBooks } from '../src/app/accounting/export-books.ts';
import { openJournal } from '../src/journal/open-journal.ts';
import type { FillRecord, RecordBody } from '../src/core/record.ts';
import { DAY_MS, instant } from '../src/core/time.ts';
import { sqliteJournal } from '../src/journal/sqlite/sqlite.ts';
import { seededRandom } from '../src/simulator/market/random.ts';
import { table } from './measure.ts';

const TARGET_S = 60;
const BATCH = 2_000;
const START = Date.UTC(2026, 0, 1);
const option = (name: string): string | undefined => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const fills = Number(option('--fills') ?? 1_000_000);
const method = option('--method') ?? 'fifo';
const random = seededRandom('accounting');

function fill(n: number): FillRecord {
  const cents = Math.floor(5_000_000 + 2_000_000 * random.next());
  const units = 1 + Math.floor(random.next() * 9_999);
  const side = n % 3 === 2 ? 'sell' : 'buy';
  return {
    kind: 'fill',
    client_order_id: `tr-bench-${n}`,
    order_id: String(n),
    quote_id: `q${n}`,
    pair: 'btcusd',
    base: 'btc',
    quote: 'usd',
    side,
    quantity: (units / 10_000).toFixed(4),
    price: (cents / 100).toFixed(2),
    amount: ((cents * units) / 1_000_000).toFixed(2),
    fees: '0.25',
    executed_at: instant(START + n * 1_000),
    strategy: 'bench',
    parent: 'p',
    slice: n,
    attempt: 0,
    notional_usd: '0',
    decision_price: '',
    source: 'order',
  };
}

async function writeJournal(file: string): Promise<void> {
  const journal = sqliteJournal(file);
  for (let n = 0; n < fills; n += BATCH) {
    const bodies: RecordBody[] = Array.from({ length: Math.min(BATCH, fills - n) }, (_, i) => fill(n + i));
    await firstValueFrom(toObservable(journal.append(bodies, instant(START + n * 1_000))));
  }
  journal.close();
}

const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'));
try {
  const file = join(folder, 'journal.db');
  await writeJournal(file);
  writeFileSync(join(folder, 'books.yaml'), method === 'pool' ? 'jurisdiction: GB\n' : `method: ${method}\n`);

  let begun = performance.now();
  const journal = openJournal(`sqlite:${file}`, { readOnly: true });
  if (!journal.verify().ok) throw new Error('the chain breaks');
  journal.close();
  const verifyS = (performance.now() - begun) / 1_000;

  const io = {
    stdout: { write: () => true },
    stderr: process.stderr,
    env: {},
    cwd: folder,
    now: instant(START + fills * 1_000 + DAY_MS),
    colour: false,
  };
  const common = { file: `sqlite:${file}`, config: '', books: 'books.yaml' };
  if (process.argv.includes('--closed')) {
    const until = instant(Math.ceil((START + fills * 1_000) / DAY_MS) * DAY_MS);
    await closeBooks({ ...common, until, unreconciled: 'a benchmark' }, io);
  }

  begun = performance.now();
  const cpu = process.cpuUsage();
  const out = join(folder, 'books.journal');
  await exportBooks({ ...common, format: 'hledger', per: 'month', out }, io);
  const booksS = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const result = {
    fills,
    method,
    closed: process.argv.includes('--closed') ? 'yes' : 'no',
    books_s: Number(booksS.toFixed(2)),
    cpu_s: Number(((user + system) / 1e6).toFixed(2)),
    verify_s: Number(verifyS.toFixed(2)),
    ratio: Number((booksS / verifyS).toFixed(2)),
    rss_mb: Math.round(process.resourceUsage().maxRSS / 1_024),
    megabytes: Math.round(statSync(out).size / 2 ** 20),
    target_s: TARGET_S,
  };
  console.log(process.argv.includes('--json') ? JSON.stringify(result) : table([result]));
  if (booksS > TARGET_S) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
