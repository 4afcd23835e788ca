import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assessment } from '../../src/app/commands/assess.ts';
import type { AssessOptions } from '../../src/app/commands/assess.ts';
import { loadConfig } from '../../src/app/config/config.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { text } from '../../src/core/money.ts';
import type { RecordBody } from '../../src/core/record.ts';
import { HOUR_MS, after, instant } from '../../src/core/time.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { assess } from '../../src/report/figures/assessment.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { START, aBench, aTwap } from '../engine/harness.ts';
import { NINE, aFill, appendNow, everyKind } from '../journal/records.ts';

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-assess-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/** A closed journal of `bodies`, one per second. */
function aJournal(bodies: readonly RecordBody[]): { folder: string; journal: string } {
  const folder = aFolder();
  const journal = sqliteJournal(join(folder, 'journal.db'));
  for (const [i, body] of bodies.entries()) appendNow(journal, [body], after(NINE, i * 1_000));
  journal.close();
  return { folder, journal: `sqlite:${join(folder, 'journal.db')}` };
}

function ran(options: AssessOptions, cwd: string): { code: number; out: string } {
  const printed = { out: '' };
  const code = assessment(options, {
    stdout: { write: (words) => (printed.out += words) },
    stderr: { write: () => undefined },
    env: {},
    cwd,
    now: instant(NINE + 24 * HOUR_MS),
    colour: false,
  });
  return { code, ...printed };
}

const started = (config = 'c0'): RecordBody => ({
  kind: 'started',
  version: '0.1.0',
  mode: 'paper',
  desk: 'main',
  config_hash: config,
  account: 'a0',
});

const ofKind = <Kind extends RecordBody['kind']>(kind: Kind): RecordBody & { kind: Kind } => {
  const found = everyKind().find((body) => body.kind === kind);
  if (found?.kind !== kind) throw new Error(`no sample of ${kind}`);
  return found as RecordBody & { kind: Kind };
};

const intent = (id: string): RecordBody => ({ ...ofKind('intent'), client_order_id: id, cuts: [] });
const attempt = (id: string, result: 'doubt' | 'absent' | 'filled' | 'rejected'): RecordBody => ({
  kind: 'attempt',
  client_order_id: id,
  result,
});

describe('an assessment', () => {
  it('reports the orders, fills, value and doubts that the journal contains, and how doubts ended', () => {
    let orders = 0;
    const bench = aBench({
      strategies: [aTwap('twap', { slices: 4 })],
      wrap: faultyVenue({ order: () => (++orders === 2 ? 'answer lost' : undefined) }),
    });
    bench.start({ isUntilDone: true });
    bench.clock.run(after(START, HOUR_MS));
    const records = bench.records();
    const found = assess(records);
    const fills = records.flatMap(({ body }) => (body.kind === 'fill' ? [body] : []));
    expect(fills).toHaveLength(4);
    expect(found).toMatchObject({
      desks: ['main'],
      records: records.length,
      orders: 4,
      fills: 4,
      doubts: { opened: 1, ended: { filled: 1 }, open: [], byPerson: 0 },
      provenLater: { transactions: 1 },
      deaths: 0,
      peaks: { second: { orders: 1 }, minute: { orders: 1 } },
    });
    expect(found.doubts.longestMs).toBeGreaterThan(0);
    const sum = fills.reduce((all, { notional_usd: usd }) => all + Math.round(Number(usd) * 1e8), 0);
    expect(Math.round(Number(text(found.notional)) * 1e8)).toBe(sum);
  });

  it('counts the most orders within any second and within any minute', () => {
    const at = [0, 400, 999, 1_000, 1_398, 30_000, 60_001, 60_400];
    const records = at.map((ms, n) => ({
      seq: n + 1,
      at: after(NINE, ms),
      body: intent(`i-${n}`),
      hash: '',
    }));
    // 400, 999, 1000 and 1398 lie within a second; the first six lie within a minute, and so do the last six.
    expect(assess(records).peaks).toEqual({
      second: { orders: 4, at: after(NINE, 1_398) },
      minute: { orders: 6, at: after(NINE, 30_000) },
    });
  });

  it('assigns a trade proven after midnight to the day of its execution, and counts no dry-run fill as proven late', () => {
    const traded = (hours: number, usd: string, source: 'order' | 'transactions' | 'dry_run' = 'order'): RecordBody => ({ ...aFill(), executed_at: after(NINE, hours * HOUR_MS), notional_usd: usd, source }); // prettier-ignore
    const bodies = [
      traded(0, '100'),
      traded(16, '70'),
      traded(14, '10', 'transactions'),
      traded(17, '60', 'dry_run'),
    ];
    const records = bodies.map((body, n) => ({ seq: n + 1, at: after(NINE, n), body, hash: '' }));
    const day = (to: number): string | undefined => {
      const { largestDay } = assess(records.slice(0, to));
      return largestDay && `${largestDay.day} ${text(largestDay.notional)}`;
    };
    expect(day(3)).toBe('2026-12-01 110');
    expect(day(4)).toBe('2026-12-02 130');
    expect(assess(records).provenLater).toEqual({ transactions: 1 });
  });

  it('counts processes that died without a stopped record, including one that started before the period', () => {
    const bodies = [started(), started(), ofKind('stopped'), started(), started()];
    const records = bodies.map((body, n) => ({ seq: n + 1, at: after(NINE, n), body, hash: '' }));
    expect(assess(records)).toMatchObject({ deaths: 2 });
    expect(assess(records, { from: after(NINE, 1) })).toMatchObject({ deaths: 2, records: 4 });
    expect(assess(records, { from: after(NINE, 2) })).toMatchObject({ deaths: 1, records: 3 });
  });

  it('counts doubts resolved by a person, doubts from before the period that end in it, and open doubts', () => {
    const bodies = [
      intent('old'),
      attempt('old', 'doubt'),
      started(),
      intent('word'),
      attempt('word', 'doubt'),
      intent('open'),
      attempt('open', 'doubt'),
      { ...ofKind('resolved'), client_order_id: 'word' },
      attempt('word', 'absent'),
      { ...aFill(), client_order_id: 'old', source: 'transactions' as const },
      attempt('old', 'filled'),
    ];
    const records = bodies.map((body, n) => ({ seq: n + 1, at: after(NINE, n * 1_000), body, hash: '' }));
    expect(assess(records, { from: after(NINE, 2_000) }).doubts).toEqual({
      opened: 2,
      ended: { absent: 1, filled: 1 },
      byPerson: 1,
      open: ['open'],
      longestMs: 8_000,
      medianMs: 8_000,
    });
  });
});

describe('tranche journal assess', () => {
  it('writes a page with limits, refusals, overrides, simulation figures and the reason of every halt', () => {
    const { folder, journal } = aJournal(everyKind());
    const simulation = join(folder, 'simulation.json');
    const one = { title: 'cycle', commit: 'abc', isOver: true, seeds: 7, simulatedYears: 1.5, crashes: 3 };
    writeFileSync(simulation, JSON.stringify({ A: { ...one, violations: 0 } }));
    const { code, out } = ran({ journal, simulation }, folder);
    expect(code).toBe(0);
    for (const heading of [
      'Limits in force, and orders against them',
      'Limits of a config file',
      'Refusals and cuts',
      'Overrides',
      'Simulation',
      'Stress',
    ])
      expect(out).toContain(`\n## ${heading}\n`);
    expect(out).toContain('# Self-assessment of desk main');
    expect(out).toContain('| cycle | abc | 7 | 1.5 | 3 | 0 |');
    expect(out).toMatch(/\| clipped_funds \| \d+ \|/u);
    const halts = everyKind().filter((body) => body.kind === 'control');
    expect(halts.length).toBeGreaterThan(0);
    for (const { why } of halts) expect(out).toContain(why.replaceAll('|', String.raw`\|`));
    // A row is one line, whatever text it contains.
    const rows = out.split('\n').filter((line) => line.startsWith('|'));
    expect(rows.filter((line) => !line.endsWith('|'))).toEqual([]);
  });

  it('shows the controls of a config and whether the last start used it', () => {
    const settings = { env: {}, cwd: aFolder(), now: NINE };
    const file = join(settings.cwd, 'paper.yaml');
    writeFileSync(
      file,
      'mode: paper\nvenue: { simulated: {} }\njournal: "memory:"\nstrategies: []\ncontrols:\n  collar_bps: 77\n',
    );
    const { hash } = loadConfig(file, settings);
    const same = aJournal([started('other'), started(hash)]);
    expect(ran({ journal: same.journal, config: file }, settings.cwd).out).toContain(
      'The config of the last start',
    );
    const other = aJournal([started(hash), started('other')]);
    const { out } = ran({ journal: other.journal, config: file }, settings.cwd);
    expect(out).toContain('**Not the config of the last start** (other)');
    expect(out).toContain('| collar_bps | 77 |');
  });

  it('prints the assessment as JSON and reports an empty journal', () => {
    const { folder, journal } = aJournal([]);
    const { code, out } = ran({ journal, json: true }, folder);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      assessment: { records: 0, orders: 0, notional: '0' },
      chain: { ok: true },
    });
    expect(ran({ journal }, folder).out).toContain('no records in the period');
  });

  it('rejects an invalid or missing file of simulation figures', () => {
    const { folder, journal } = aJournal([started()]);
    const simulation = join(folder, 'simulation.json');
    writeFileSync(simulation, '{"A":{"title":"x"}}');
    expect(() => ran({ journal, simulation }, folder)).toThrow(OperatorError);
    expect(() => ran({ journal, simulation: 'nowhere.json' }, folder)).toThrow(/nowhere\.json.*ENOENT/u);
  });
});
