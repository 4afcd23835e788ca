import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { day } from '../../src/app/commands/day.ts';
import type { DayOptions } from '../../src/app/commands/day.ts';
import type { RecordBody } from '../../src/core/record.ts';
import { HOUR_MS, after, instant } from '../../src/core/time.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { appendNow } from '../journal/records.ts';
import { NINE, aFill, aStart } from '../report/records.ts';
import { look } from './support/look.ts';
import { aRunIo } from './support/run-io.ts';

const asked: RecordBody = {
  kind: 'override',
  override: 'r1',
  step: 'proposed',
  limit: 'max_order_notional',
  expires_at: instant(NINE),
  by: 'ann',
  why: 'a large sale',
};

interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `tranche day` over these records, one per hour from nine on. */
function told(bodies: readonly RecordBody[], options: Pick<DayOptions, 'day' | 'json'> = {}): Told {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-day-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'journal.db');
  const journal = sqliteJournal(file);
  for (const [n, body] of bodies.entries()) appendNow(journal, [body], after(NINE, n * HOUR_MS));
  journal.close();
  const io = aRunIo({ cwd: folder, now: after(NINE, 12 * HOUR_MS) });
  const code = day({ ...options, config: 'config/paper.yaml', journal: file, zone: 'UTC' }, io);
  return { code, ...io.printed };
}

describe('tranche day', () => {
  it('describes a day in words, each line with its records, and lists everything that waits for a person', () => {
    const { code, out, err } = told([
      aStart(),
      aFill(HOUR_MS),
      asked,
      { kind: 'control', state: 'halted', by: 'ben', why: 'wrong prices' },
    ]);
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n')).toEqual([
      '2026-12-01T00:00:00.000Z to 2026-12-02T00:00:00.000Z',
      'Traded, 1 fill:',
      expect.stringMatching(/^- buyer bought 1 btc for 101 usd.* \[2\]$/u),
      'Who did what:',
      '- 2026-12-01T11:00:00.000Z request r1 proposed (max_order_notional), by ann: a large sale [3]',
      '- 2026-12-01T12:00:00.000Z the desk halted, by ben: wrong prices [4]',
      'The desk was started once. [1]',
      'Waits:',
      '- the desk has been halted since 2026-12-01T12:00:00.000Z until a person re-arms it: wrong prices',
      '- request r1 by ann since 2026-12-01T11:00:00.000Z: max_order_notional',
      '',
    ]);
  });

  it('omits requests that no longer wait, and events of other days', () => {
    const ended: RecordBody[] = [aStart(), asked, { ...asked, step: 'rejected' }];
    expect(told(ended, { day: '2026-12-01' }).out).toContain('Nothing waits for a person.');
    const { out } = told(ended, { day: '2026-11-30' });
    expect(out.split('\n').slice(1)).toEqual(['Nothing traded.', 'Nothing waits for a person.', '']);
  });

  it('prints one JSON object', () => {
    const { out } = told([aStart(), aFill(HOUR_MS)], { day: '2026-12-01', json: true });
    expect(JSON.parse(out)).toMatchObject({
      from: '2026-12-01T00:00:00.000Z',
      traded: [{ strategy: 'buyer', records: [2] }],
      starts: [1],
      waiting: [],
    });
  });

  it('writes a page without scripts whose lines link to their records, and overwrites it only on request', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tranche-day-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    const evil = '<img src=x onerror=alert(1)>';
    const bodies: readonly RecordBody[] = [aStart(), aFill(HOUR_MS), { kind: 'control', state: 'halted', by: evil, why: evil }]; // prettier-ignore
    const journal = sqliteJournal(join(folder, 'desk.db'));
    for (const body of bodies) appendNow(journal, [body], NINE);
    const { hash } = journal.head();
    journal.close();
    const line = ['day', '2026-12-01', '--journal', join(folder, 'desk.db'), '--zone', 'UTC', '--html', 'day.html']; // prettier-ignore
    const { code, out, err } = await look(folder, line);
    expect([code, err]).toEqual([0, 'written to day.html\n']);
    expect(out).toContain('Traded, 1 fill:');
    const html = readFileSync(join(folder, 'day.html'), 'utf8');
    expect(html).toContain('buyer bought 1 btc for 101 usd');
    expect(html).toContain(`--head ${hash}`);
    expect(html).toContain('&#60;img src=x onerror=alert(1)&#62;');
    expect(html).not.toMatch(/<img|<script/u);
    for (const seq of [1, 2, 3]) expect(html).toMatch(new RegExp(`href="#r${seq}"[^]*id="r${seq}"`, 'u'));
    const again = await look(folder, line);
    expect([again.code, again.err]).toEqual([64, expect.stringContaining('exists: name another file with --html')]); // prettier-ignore
    expect((await look(folder, [...line, '--overwrite'])).code).toBe(0);
    expect(readFileSync(join(folder, 'day.html'), 'utf8')).toBe(html);
  });

  it('rejects an invalid day and shows a valid example', () => {
    expect(() => told([aStart()], { day: 'tomorrow' })).toThrow(
      'expected a day such as 2026-12-01, got "tomorrow"',
    );
  });
});
