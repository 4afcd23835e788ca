import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accountIo } from '../../src/app/cli/account/account-cli.ts';
import { exportHistory, sync } from '../../src/app/commands/account/account-sync.ts';
import type { SyncOptions } from '../../src/app/commands/account/account-sync.ts';
import { exitCodes, OperatorError } from '../../src/core/errors.ts';
import { aVenue } from '../simulator/client.ts';
import type { VenueUnderTest } from '../simulator/client.ts';
import { systemClock } from '../simulator/world.ts';
import { steady } from './account/support.ts';
import type { Ran } from './account/support.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-sync-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** The limit of the specification, a hundred times as fast, and pages so small that there are many. */
const WINDOW_MS = 60;
const pace = { gapMs: WINDOW_MS + 100, pageRows: 25 };
const quick = {
  transactionsWindowMs: WINDOW_MS,
  quotesPerSecond: 1_000,
  ordersPerSecond: 1_000,
  addressPerTenSeconds: 10_000,
} as const;

async function run(command: (io: ReturnType<typeof accountIo>) => Promise<number> | number): Promise<Ran> {
  let out = '';
  let err = '';
  const stdout = { write: (text: string): unknown => (out += text) };
  const stderr = { write: (text: string): unknown => (err += text) };
  const env = { TRANCHE_OPERATOR_TOKEN: token };
  const io = accountIo(
    { stdout, stderr, env, cwd: folder, now: systemClock.wall(), colour: false },
    { input: process.stdin, output: process.stderr },
  );
  try {
    return { code: await command(io), out, err };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { code: exitCodes[error.exit], out, err: `${err}${error.message}\n` };
  }
}
let token = '';
const download = async (venue: VenueUnderTest, more: Partial<SyncOptions> = {}): Promise<Ran> => {
  token = venue.tokens[0] ?? '';
  return await run(async (io) => await sync({ baseUrl: venue.baseUrl, store: 'h.db', ...more }, io, pace));
};
const written = async (format: 'csv' | 'jsonl'): Promise<Ran> =>
  await run(async (io) => await exportHistory({ store: 'h.db', format }, io));

/** Trades at the venue, two rows each. */
async function trade(venue: VenueUnderTest, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const side = n % 2 === 0 ? 'buy' : 'sell';
    const quoted = await venue.post('/v1/quote', `{"pair":"btcusd","side":"${side}","quantity":0.01}`);
    const { quote_id: id } = quoted.body as { readonly quote_id: string };
    const done = await venue.post(
      `/v1/orders/${side}`,
      `{"currency_pair":"btcusd","quantity":0.01,"quote_id":"${id}"}`,
    );
    expect(done.status).toBe(201);
  }
}
const accounts = [{ name: 'desk', balances: { usd: '100000', btc: '2' } }];
const ids = async (): Promise<readonly number[]> =>
  (await written('jsonl')).out
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { readonly id: number }).id);

describe('the download of transactions', () => {
  it('reads all pages, stores each row once, and stays within the request limit', async () => {
    let reads = 0;
    const onRequest = ({ route }: { readonly route: string }): void => {
      if (route === '/v1/account/transactions') reads += 1;
    };
    await using venue = await aVenue({ accounts, limits: quick, feeBps: 7 }, { onRequest });
    await trade(venue, 60);

    const ran = await download(venue, { json: true });

    expect(JSON.parse(ran.out)).toMatchObject({ transactions: 122, gaps: [] });
    expect(ran.code).toBe(0);
    const all = await ids();
    expect(new Set(all).size).toBe(122);
    expect(all).toEqual(all.toSorted((a, b) => a - b));
    // Pages of 25 rows that overlap by 10: a read that was too early (429) would have been repeated.
    expect(reads).toBe(8);
    // Only its owner can read the file, because it lists all activity of the account.
    expect(statSync(join(folder, 'h.db')).mode & 0o077).toBe(0);
  });

  it('resumes where it was interrupted and requests only new rows', async () => {
    let asked = 0;
    let isDown = false;
    await using venue = await aVenue(
      { accounts, limits: quick },
      {
        script: ({ route }) => {
          if (route !== '/v1/account/transactions') return undefined;
          asked += 1;
          return isDown && asked > 2 ? { answer: { status: 503, body: '{"error":"down"}' } } : undefined;
        },
      },
    );
    await trade(venue, 60);
    isDown = true;
    const stopped = await download(venue);
    expect(stopped).toMatchObject({ code: 69, out: '' });
    expect(stopped.err).toContain('25 rows');
    const first = asked;

    isDown = false;
    await trade(venue, 5);
    const rest = await download(venue);

    expect(rest.err).toContain('Resuming an earlier run');
    expect(rest).toMatchObject({ code: 0 });
    expect(rest.out).toMatch(/^132 transactions, complete to /u);
    expect(new Set(await ids()).size).toBe(132);
    expect(first).toBe(3);
    expect((await download(venue)).err).toContain('0 new, 0 changed');
  });

  it('updates a withdrawal from its start to its completion without counting it twice', async () => {
    await using venue = await aVenue({
      accounts,
      limits: quick,
      speed: 6_000,
      withdrawals: { stepMinutes: 5 },
    });
    const body = '{"currency":"btc","amount":0.5,"address":"bc1qexample"}';
    expect((await venue.post('/v1/user/withdraw', body)).status).toBe(200);
    expect((await download(venue)).code).toBe(0);
    const started = (await written('jsonl')).out;
    await new Promise((done) => {
      setTimeout(done, 600);
    });

    const after = await download(venue);

    const ended = (await written('jsonl')).out;
    expect(started).toMatch(/"action":"withdraw"/u);
    expect(ended.match(/"action":"withdraw"/gu)).toHaveLength(1);
    expect(ended).toMatch(/"action":"withdraw".*"status":"done"/iu);
    expect(after).toMatchObject({ code: 0 });
  });

  it('reports inconsistent balances', async () => {
    await using venue = await aVenue({ accounts, limits: quick });
    await trade(venue, 3);
    await download(venue);
    const lost = (await ids())[4] ?? 0;
    const db = new DatabaseSync(join(folder, 'h.db'));
    db.prepare('DELETE FROM transactions WHERE id = ?').run(lost);
    // As if the venue had never shown the row: the overlap of pages would add it again.
    const future = systemClock.wall() + 31 * 86_400_000;
    db.prepare("UPDATE meta SET value = json_set(value, '$.completeTo', ?) WHERE key = 'progress'").run(
      future,
    );
    db.close();

    const ran = await download(venue);

    expect(ran.code).toBe(65);
    expect(ran.err).toContain('Balances are inconsistent in 1 places');
    expect(steady(ran.err)).toMatch(/btc: 2\.01 before transaction #+ of 0\.01, 2\.01 after it|btc: .* is unexplained|usd: .* is unexplained/u); // prettier-ignore
  });

  it('refuses to store a second account in the same file', async () => {
    await using venue = await aVenue({ accounts: [...accounts, { name: 'other', balances: { eth: '1' } }], limits: quick }); // prettier-ignore
    await download(venue);
    const before = await ids();
    token = venue.tokens[1] ?? '';
    const other = await run(async (io) => await sync({ baseUrl: venue.baseUrl, store: 'h.db' }, io, pace));
    expect(other).toMatchObject({ code: 78, out: '' });
    expect(other.err).toContain('--account-changed');
    expect(await ids()).toEqual(before);
  });

  it('refuses a store file that is not a database and leaves it unchanged', async () => {
    await using venue = await aVenue({ accounts, limits: quick });
    writeFileSync(
      join(folder, 'h.db'),
      'a letter to my aunt, longer than the head of a database would be '.repeat(30),
    );
    const ran = await download(venue);
    expect(ran).toMatchObject({ code: 65, out: '' });
    expect(readFileSync(join(folder, 'h.db'), 'utf8')).toContain('my aunt');
  });

  it('is exported as CSV and JSON lines that match the golden files', async () => {
    await using venue = await aVenue({ seed: 'golden', accounts, limits: quick, feeBps: 5 }); // prettier-ignore
    await trade(venue, 2);
    const memo = '{"currency":"btc","amount":0.5,"address":"=cmd|1","memo":"+1, \\"x\\""}';
    expect((await venue.post('/v1/user/withdraw', memo)).status).toBe(200);
    const synced = await download(venue);
    await expect(steady(synced.out)).toMatchFileSnapshot('account/golden/sync.txt');
    await expect(steady((await written('csv')).out)).toMatchFileSnapshot('account/golden/export.csv');
    await expect(steady((await written('jsonl')).out)).toMatchFileSnapshot('account/golden/export.jsonl');
  });

  it('must precede an export, which otherwise exits with 74', async () => {
    const ran = await written('csv');
    expect(ran).toMatchObject({ code: 74, out: '' });
    expect(ran.err).toContain('tranche account sync');
  });
});

describe('the export of transactions as Parquet', () => {
  it('contains the stored rows with decimal amounts, timestamps, and null for omitted values', async () => {
    await using venue = await aVenue({ accounts, limits: quick, feeBps: 7 });
    await trade(venue, 8);
    await download(venue);
    const file = join(folder, 'h.parquet');

    const ran = await run(
      async (io) => await exportHistory({ store: 'h.db', format: 'parquet', out: 'h.parquet' }, io),
    );

    expect(ran).toEqual({ code: 0, out: '', err: '18 transactions written to h.parquet.\n' });
    expect(statSync(file).mode & 0o077).toBe(0);
    const buffer = await asyncBufferFromFile(file);
    const { schema } = await parquetMetadataAsync(buffer);
    const types = new Map(
      schema.map(({ name, type, converted_type: converted }) => [name, converted ?? type]),
    );
    for (const name of ['amount', 'price', 'fees', 'balance']) expect(types.get(name)).toBe('DECIMAL');
    expect(types.get('time')).toBe('TIMESTAMP_MILLIS');
    // This reader converts decimals to doubles.
    const plain = (name: string, cell: unknown): unknown =>
      types.get(name) === 'DECIMAL' ? Number(Number(cell).toPrecision(14)) : cell;
    const told = (await parquetReadObjects({ file: buffer })).map(({ id, time, ...rest }) => ({
      id: Number(id),
      time: (time as Date).toISOString(),
      ...Object.fromEntries(Object.entries(rest).filter(([, cell]) => cell !== null && cell !== undefined).map(([name, cell]) => [name, plain(name, cell)])), // prettier-ignore
    }));
    const lines = (await written('jsonl')).out.split('\n').slice(0, -1);
    const rows = lines.map((line) => Object.entries(JSON.parse(line) as Record<string, unknown>));
    expect(told).toEqual(rows.map((row) => Object.fromEntries(row.map(([name, cell]) => [name, plain(name, cell)])))); // prettier-ignore
  });

  it('requires --out, which the text formats do not accept', async () => {
    for (const options of [{ format: 'parquet' }, { format: 'csv', out: 'x.csv' }] as const) {
      const ran = await run(async (io) => await exportHistory({ store: 'h.db', ...options }, io));
      expect(ran).toMatchObject({ code: 64, out: '' });
      expect(ran.err).toContain('--out');
    }
  });

  it('reports an output file that cannot be written and leaves no partial file', async () => {
    await using venue = await aVenue({ accounts, limits: quick });
    await download(venue);
    mkdirSync(join(folder, 'taken'));
    const ran = await run(
      async (io) => await exportHistory({ store: 'h.db', format: 'parquet', out: 'taken' }, io),
    );
    expect(ran).toMatchObject({ code: 74, out: '' });
    expect(ran.err).toContain('taken cannot be written');
    expect(existsSync(join(folder, 'taken.part'))).toBe(false);
  });
});
