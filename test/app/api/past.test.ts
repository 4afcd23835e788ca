import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HOUR_MS, MINUTE_MS, after } from '../../../src/core/time.ts';
import { historyOf } from '../../../src/app/reads/history.ts';
import { ReadThread } from '../../../src/app/reads/read-thread.ts';
import { sqliteJournal } from '../../../src/journal/sqlite/sqlite.ts';
import { START, aTwap, started } from '../../engine/harness.ts';
import type { Bench } from '../../engine/harness.ts';
import { aFolder } from '../../support/folder.ts';
import { look } from '../support/look.ts';
import { served } from './served.ts';
import type { ServedBench } from './served.ts';

type Row = Readonly<Record<string, unknown>>;
interface Page {
  readonly items: readonly Row[];
  readonly next?: string;
}

/** A desk on a journal file, with a strategy that trades and one whose limit price is never met. */
function aDesk(): { readonly bench: Bench; readonly file: string } {
  const file = join(aFolder(), 'desk.db');
  const journal = sqliteJournal(file);
  const options = {
    journal,
    policy: { retry: { baseMs: 500, capMs: 30_000, budgetMs: 600_000, requoteMs: 60_000 } },
    strategies: [aTwap('buys', { slices: 5 }), aTwap('dear', { slices: 4, limit_price: '1' })],
  };
  const bench = started(options, 7 * MINUTE_MS);
  onTestFinished(() => {
    bench.kill();
    journal.close();
  });
  return { bench, file };
}

/** A thread that reads a journal until the test ends. */
function aThread(file: string, timeoutMs = 60_000): ReadThread {
  const thread = new ReadThread(`sqlite:${file}`, timeoutMs);
  onTestFinished(() => {
    thread.close();
  });
  return thread;
}

/** Reads all items of a list page by page. */
async function all({ ask }: ServedBench, path: string): Promise<readonly Row[]> {
  const items: Row[] = [];
  let next: string | undefined = '';
  for (let pages = 0; next !== undefined && pages < 200; pages++) {
    const place: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
    const { status, body } = await ask(`${path}${place}`);
    expect([path, status]).toEqual([path, 200]);
    const page = body as unknown as Page;
    items.push(...page.items);
    ({ next } = page);
  }
  expect(next).toBeUndefined();
  return items;
}

describe('history lists of the API', () => {
  it.each(['records', 'fills', 'wakes', 'why', 'slices', 'slices?strategy=buys', 'slices?strategy=dear'])(
    'return every item of %s once, for any page size and in either order',
    async (list) => {
      const desk = await served(aDesk().bench);
      const path = `/api/v1/${list}${list.includes('?') ? '&' : '?'}`;
      const whole = await all(desk, `${path}limit=500`);
      expect(whole.length).toBeGreaterThan(2);
      expect(await all(desk, `${path}limit=1`)).toEqual(whole);
      expect(await all(desk, `${path}limit=3`)).toEqual(whole);
      expect(await all(desk, `${path}order=newest&limit=2`)).toEqual(whole.toReversed());
    },
  );

  it('match the output of `tranche why` line by line', async () => {
    const { bench, file } = aDesk();
    const now = after(START, HOUR_MS);
    const said = await look('/', ['why', '--journal', file, '--json'], { now });
    const lines = said.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    const told = await all(await served(bench), '/api/v1/why?limit=7');
    const plain = (row: Row): Row =>
      Object.fromEntries(
        Object.entries(row).filter(([name]) => !['seq', 'words', 'local', 'zone'].includes(name)),
      );
    expect(told.map(plain)).toEqual(lines.map(plain));
    expect(lines.some(({ event }) => event === 'traded')).toBe(true);
  });

  it('list each slot of a strategy once with its state and its attempts', async () => {
    const desk = await served(aDesk().bench);
    const rows = await all(desk, '/api/v1/slices?strategy=buys&limit=2');
    const states = ['filled', 'filled', 'filled', 'filled', 'planned'];
    expect(rows.map(({ slice, state }) => [slice, state])).toEqual(states.map((state, n) => [n, state]));
    expect(rows[0]).toMatchObject({
      planned: '0.2',
      currency: 'btc',
      filled: '0.2',
      due_at: '2026-01-05T00:00:00.000Z',
      attempts: [{ attempt: 0, result: 'filled', quote: { quantity: '0.2' }, fill: { quantity: '0.2' } }],
    });
  });

  it('list the quotes discarded by a limit price, for ended slices and for an open one', async () => {
    const desk = await served(aDesk().bench);
    const rows = await all(desk, '/api/v1/slices?strategy=dear');
    const states = rows.map(({ state }) => state);
    expect(states).toContain('open');
    for (const { attempts } of rows.filter(({ state }) => state !== 'planned'))
      expect(attempts).toMatchObject([
        { result: 'discarded', reason: 'limit_price' },
        ...(attempts as Row[]).slice(1),
      ]);
  });

  it('contain only items of the requested period and parent', async () => {
    const desk = await served(aDesk().bench);
    const [one] = await all(desk, '/api/v1/fills?limit=1');
    const parent = String(one?.['parent']);
    const own = await all(desk, `/api/v1/slices?parent=${parent}`);
    expect(new Set(own.map((row) => row['parent']))).toEqual(new Set([parent]));
    const early = await all(desk, '/api/v1/fills?until=2026-01-05T00:03:00Z');
    const late = await all(desk, '/api/v1/fills?since=2026-01-05T00:03:00Z');
    expect(early.length * late.length).toBeGreaterThan(0);
    expect([...early, ...late]).toEqual(await all(desk, '/api/v1/fills'));
  });

  it.each([
    ...[
      'after=-1',
      'after=x',
      'limit=0',
      'limit=501',
      'limit=1e3',
      'limit=99999999999999999999',
      'sql=1',
    ].map((query) => `records?${query}`),
    'records?order=sideways',
    'records?since=yesterday',
    'records?since=2026-01-05T00:00:00Z&until=2026-01-05T00:00:00Z',
    'records?since=P1D&since=P2D',
    'slices?after=ended:x',
    'slices?after=records:1',
    'slices?after=1',
    'plan?days=0',
    'plan?days=4000',
    'limits?limit=5',
  ])('reject %s with an explanation', async (path) => {
    const { ask } = await served(aDesk().bench);
    const { status, body } = await ask(`/api/v1/${path}`);
    expect([status, body['error']]).toEqual([400, expect.stringMatching(/.{11}/u)]);
  });

  it('are empty for a position beyond the last record, a partial name and an injected query', async () => {
    const { ask } = await served(aDesk().bench);
    for (const path of [
      'records?after=999999999999999',
      'wakes?strategy=buy',
      'wakes?strategy=%25',
      `fills?strategy=${encodeURIComponent('buys","x":"')}`,
      'slices?parent=%27%20OR%201=1',
      'records?kind=nothing',
    ])
      expect([path, await ask(`/api/v1/${path}`)]).toMatchObject([
        path,
        { status: 200, body: { items: [] } },
      ]);
  });
});

const ONE = { what: 'records', order: 'oldest', limit: 1 } as const;

describe('the thread for history queries', () => {
  it('returns the same results as the journal while the desk writes to it', async () => {
    const { bench, file } = aDesk();
    const thread = aThread(file);
    const request = { what: 'records', order: 'oldest', limit: 500 } as const;
    expect(await thread.ask(request)).toEqual(historyOf(bench.journal, request));
    bench.until(9 * MINUTE_MS);
    const costs = { what: 'costs', version: '1' } as const;
    expect(await thread.ask(costs)).toEqual(historyOf(bench.journal, costs));
    const verify = { what: 'verify', from: { seq: 3, hash: bench.records()[2]?.hash ?? '' } } as const;
    expect(await thread.ask(verify)).toEqual({ to: { ...bench.journal.head() } });
  });

  it('is terminated when a query takes too long, and the next query starts a new one', async () => {
    const thread = aThread(aDesk().file, 1);
    for (let n = 0; n < 2; n++) await expect(thread.ask(ONE)).rejects.toMatchObject({ statusCode: 503 });
  });

  it('accepts at most 32 queries at a time and none after it is closed', async () => {
    const thread = aThread(aDesk().file);
    const asked = Array.from({ length: 40 }, async () => await thread.ask(ONE));
    const settled = await Promise.allSettled(asked);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(32);
    thread.close();
    await expect(thread.ask(ONE)).rejects.toMatchObject({ statusCode: 503 });
  });

  it('rejects queries of a journal that cannot be read', async () => {
    await expect(aThread('/nowhere/at/all.db').ask(ONE)).rejects.toThrow('no journal at');
  });
});
