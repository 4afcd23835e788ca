import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import type { RecordBody } from '../../src/core/record.ts';
import type { Pack } from '../../src/report/best-execution/pack.ts';
import { appendNow } from '../journal/records.ts';
import { packRecords } from '../report/pack-records.ts';
import { NINE, aLife, aStart } from '../report/records.ts';
import { look } from './support/look.ts';
import type { Ran } from './support/look.ts';

interface Desk {
  readonly folder: string;
  readonly run: (...line: readonly string[]) => Promise<Ran>;
}

function aDesk(records = packRecords()): Desk {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-pack-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'desk.db');
  const journal = sqliteJournal(file);
  for (const { at, body } of records) appendNow(journal, [body], at);
  journal.close();
  return { folder, run: async (...line) => await look(folder, ['best-execution', file, ...line]) };
}

const packIn = async (run: Desk['run'], ...line: readonly string[]): Promise<Pack> => {
  const { code, out } = await run('--json', ...line);
  expect(code).toBe(0);
  return JSON.parse(out) as Pack;
};

describe('tranche best-execution', () => {
  it('summarizes the execution of orders by month', async () => {
    const { code, out, err } = await aDesk().run();
    expect([code, out]).toEqual([0, '']);
    expect(err).toContain('2026-12: 33 quotes requested, 31 received, 31 orders, 30 fills; 3006.69 usd');
    expect(err).toContain('2027-01: 6 quotes requested, 6 received, 6 orders, 6 fills;');
    expect(err).toContain('Not recorded: a policy of approvals at some starts');
  });

  it('states the head of the journal and the hash of each linked record', async () => {
    const { folder, run } = aDesk();
    const pack = await packIn(run);
    const journal = sqliteJournal(join(folder, 'desk.db'));
    onTestFinished(() => {
      journal.close();
    });
    const hashes = new Map([...journal.read()].map(({ seq, hash }) => [seq, hash]));
    expect(pack.head).toEqual({ seq: hashes.size, hash: journal.head().hash });
    const named = pack.records.map(({ seq }) => seq);
    expect(pack.records.every(({ seq, hash }) => hashes.get(seq) === hash)).toBe(true);
    const first = JSON.stringify(pack).matchAll(/"first":\[(?<seqs>[\d,]*)\]/gu);
    const linked = new Set([...first].flatMap(({ groups }) => (groups?.['seqs'] ?? '').split(',').filter(Boolean).map(Number))); // prettier-ignore
    expect(named).toEqual([...linked].toSorted((a, b) => a - b));
  });

  it('lists every record behind a figure', async () => {
    const { run } = aDesk();
    const name = '2026-12/dca/btcusd/buy/fills';
    const { code, out } = await run('--list', name, '--json');
    expect(code).toBe(0);
    const kinds = out.trim().split('\n').map((line) => (JSON.parse(line) as { body: { kind: string } }).body.kind); // prettier-ignore
    expect(kinds).toEqual(Array.from({ length: 30 }, () => 'fill'));
    const unknown = await run('--list', '2026-12/dca/btcusd/sell/fills');
    expect([unknown.code, unknown.err]).toEqual([
      64,
      expect.stringContaining('no figure of this window has records under the name'),
    ]);
  });

  it('writes a reproducible page without scripts, in which every record number links to its row', async () => {
    const { folder, run } = aDesk();
    expect((await run('--out', 'pack')).code).toBe(0);
    const file = join(folder, 'pack/best-execution.html');
    const html = readFileSync(file, 'utf8');
    expect(html).not.toContain('<script');
    const rows = new Set([...html.matchAll(/id="r(?<seq>\d+)"/gu)].map(({ groups }) => groups?.['seq']));
    const links = [...html.matchAll(/href="#r(?<seq>\d+)"/gu)].map(({ groups }) => groups?.['seq']);
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((seq) => !rows.has(seq))).toEqual([]);
    expect(statSync(file).mode & 0o077).toBe(0);
    const again = await run('--out', 'pack');
    expect([again.code, again.err]).toEqual([64, expect.stringContaining('add --overwrite')]);
    expect((await run('--out', 'pack', '--overwrite')).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(html);
  });

  it('verifies the approvals and reports changes without a required approval', async () => {
    const records = packRecords().map(({ at, body }) => ({
      at,
      body: body.kind === 'started' ? { ...body, four_eyes: true } : body,
    }));
    const { folder, run } = aDesk(records);
    const pack = await packIn(run, '--out', 'pack');
    const reload = records.findIndex(({ body }) => body.kind === 'reload') + 1;
    expect(pack.approval_faults[0]).toEqual({
      at: '2026-12-23T08:59:59.000Z',
      by: 'ann',
      fault: 'limits were loosened without the approval that it needed',
      records: { count: 1, first: [reload] },
    });
    const html = readFileSync(join(folder, 'pack/best-execution.html'), 'utf8');
    expect(html).toContain('limits were loosened without the approval that it needed');
    expect((await run()).err).toContain('Approvals that do not hold, or are missing: ');
    expect((await packIn(aDesk().run)).approval_faults).toEqual([]);
  });

  it('prints one part of the pack', async () => {
    const { run } = aDesk();
    const { code, out } = await run('--part', 'doubts');
    expect([code, (JSON.parse(out) as { order: string }[]).map(({ order }) => order)]).toEqual([0, ['d9-0-0']]); // prettier-ignore
    const unknown = await run('--part', 'doubt');
    expect([unknown.code, unknown.err]).toEqual([64, expect.stringContaining('--part: expected one of format, ')]); // prettier-ignore
  });

  it('escapes text written by people and files', async () => {
    const evil = '<img src=x onerror=alert(1)>';
    const bodies: readonly RecordBody[] = [
      aStart(),
      aLife('twap', { note: evil }, evil),
      { kind: 'control', state: 'halted', by: evil, why: `${evil}\u202e` },
    ];
    const { folder, run } = aDesk(bodies.map((body) => ({ at: NINE, body })));
    expect((await run('--out', 'pack')).code).toBe(0);
    const html = readFileSync(join(folder, 'pack/best-execution.html'), 'utf8');
    expect(html).toContain('&#60;img src=x onerror=alert(1)&#62;');
    expect(html).not.toContain('<img');
    expect(html).not.toContain('\u202e');
    expect(html).toContain('The journal has no limits, so orders cannot be checked against them.');
  });

  it('splits months in the given time zone', async () => {
    const { run } = aDesk();
    const pack = await packIn(run, '--zone', 'Asia/Tokyo', '--from', '2026-12-15', '--until', '2027-01-02');
    expect(pack.periods.map(({ name, from, until }) => [name, from, until])).toEqual([
      ['2026-12', '2026-12-14T15:00:00.000Z', '2026-12-31T15:00:00.000Z'],
      ['2027-01', '2026-12-31T15:00:00.000Z', '2027-01-01T15:00:00.000Z'],
    ]);
    const whole = await packIn(run, '--per', 'window');
    expect(whole.periods.map(({ name, quoting }) => [name, quoting.requests])).toEqual([['window', 39]]);
  });

  it.each([
    [['--from', '2027-01-01', '--until', '2026-12-01'], '--until must be after --from'],
    [['--from', 'yesterday'], '--from: expected a day such as 2026-12-01'],
    [['--zone', 'Mars/Base'], '--zone: '],
    [['--from', '2028-01-01'], 'no records between'],
    [['--from', '1990-01-01'], 'more than 120 months: name a shorter window, or --per window'],
    [['--strategy', 'dcaa'], 'did you mean "dca"?'],
    [['--per', 'week'], "'week' is invalid"],
  ] as const)('rejects %j with a clear message and writes no files', async (line, message) => {
    const { folder, run } = aDesk();
    const { code, err } = await run('--out', 'pack', ...line);
    expect([code, err]).toEqual([64, expect.stringContaining(message)]);
    expect(existsSync(join(folder, 'pack'))).toBe(false);
  });

  it('reports an empty journal', async () => {
    const { code, err } = await aDesk([]).run();
    expect([code, err]).toEqual([65, 'the journal has no records']);
  });
});
