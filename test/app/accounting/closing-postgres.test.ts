import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAccounting } from '../../../src/app/accounting/accounting-cli.ts';
import { instant } from '../../../src/core/time.ts';
import { openJournal } from '../../../src/journal/open-journal.ts';
import { noPostgres, startPostgres } from '../../journal/postgres-server.ts';
import type { PostgresServer } from '../../journal/postgres-server.ts';
import { aFolder, appended } from '../../journal/records.ts';
import { aFill, aStart } from '../../report/records.ts';
import { runLine } from '../support/cli.ts';
import type { Ran } from '../support/cli.ts';

const missing = noPostgres();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;
const LATER = instant(Date.UTC(2026, 11, 3));

describe.skipIf(missing !== undefined)(`tranche accounting close with PostgreSQL${because}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.stop();
  });

  it('appends the record as the owner of the journal, and fails while another process owns it', async () => {
    const folder = aFolder();
    writeFileSync(join(folder, 'books.yaml'), 'method: fifo\n');
    const url = server.url('main');
    const owner = openJournal(url);
    await appended(owner, [aStart(), aFill(1_000, { quantity: '1', amount: '100', fees: '1' })]);
    const accounting = async (...line: readonly string[]): Promise<Ran> =>
      await runLine(addAccounting, ['accounting', ...line], {
        cwd: folder,
        now: LATER,
        env: { USER: 'ann' },
        config: 'none.yaml',
      });
    const close = ['close', url, '--unreconciled', 'no history', '--until'] as const;
    // Another process owns the desk.
    const refused = await accounting(...close, '2026-12-02');
    expect([refused.code, owner.head().seq]).toEqual([75, 2]);
    owner.close();
    expect(await accounting(...close, '2026-12-02')).toMatchObject({ code: 0, err: '' });
    expect(await accounting('verify', url)).toMatchObject({ code: 0 });
    const reader = openJournal(url, { readOnly: true });
    const [closing] = reader.select({ kinds: ['closing'], order: 'oldest' });
    reader.close();
    expect(closing?.body).toMatchObject({
      until: Date.UTC(2026, 11, 2),
      entries: 1,
      head: { seq: 2 },
      by: 'cli:ann',
    });
    expect(closing?.at).toBe(LATER);
    const both = await accounting('close', url, '--store', url, '--desk', 'main', '--until', '2026-12-03');
    expect([both.code, both.err]).toEqual([
      64,
      expect.stringContaining('--store and --desk together select the journal'),
    ]);
  });
});
