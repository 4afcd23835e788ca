import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStrategies } from '../../src/app/strategies/strategies.ts';
import type { RecordBody } from '../../src/core/record.ts';
import { instant, MINUTE_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aFill, appendNow } from '../journal/records.ts';
import { expectRan } from '../support/command.ts';
import { aFolder, put } from '../support/folder.ts';
import { look, NOON } from './support/look.ts';
import type { Ran } from './support/look.ts';
import { dataOf, expectCheck } from './support/plan.ts';

/** Four slices at intervals of a quarter of an hour, from the first start of the strategy. */
const TWAP = `id: one
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
duration: PT1H
slices: 4
`;

interface World {
  readonly text?: string;
  readonly begunAt?: Instant;
  readonly more?: (hash: string) => readonly RecordBody[];
}

/** Plans a desk whose journal contains a life of the twap, started at `begunAt` with `text`, and the records of `more`. */
async function planned({
  text = TWAP,
  begunAt = instant(NOON - 20 * MINUTE_MS),
  more = () => [],
}: World): Promise<Ran> {
  const folder = aFolder({ 'one.yaml': text });
  const file = join(folder, 'journal.db');
  const world = { env: {}, cwd: folder };
  const [first] = readStrategies([join(folder, 'one.yaml')], undefined, world).strategies;
  if (first === undefined) throw new Error('no strategy');
  const { hash, document } = first;
  put(folder, { 'one.yaml': TWAP, 'desk.yaml': `strategies: one.yaml\njournal: "sqlite:${file}"\n` });
  const journal = sqliteJournal(file);
  appendNow(journal, [
    { kind: 'strategy', strategy: 'one', hash, type: 'twap', begun_at: begunAt, document },
    ...more(hash),
  ]);
  journal.close();
  return await look(folder, ['plan', '--config', 'desk.yaml', '--json']);
}
const slotsOf = (ran: Ran): readonly unknown[] =>
  dataOf(ran).strategies[0]?.slots.map(({ local }) => local) ?? [];

describe('a plan for a desk with a journal', () => {
  it('continues from the start of a running strategy instead of the current time', async () => {
    const ran = await planned({});
    // Without its first two slices, the third is due at once and makes up for them.
    expect(slotsOf(ran)).toEqual(['2026-11-21 12:00:00', '2026-11-21 12:10:00', '2026-11-21 12:25:00']);
    expect(dataOf(ran).strategies[0]).toMatchObject({ standing: 'running', slots_passed: 2 });
  });

  it('contains no slots of a finished strategy', async () => {
    const none = { detail: {}, state: {}, waits: [], intents: [], missed: [] };
    const over = (hash: string): RecordBody => ({
      kind: 'wake',
      hash,
      strategy: 'one',
      on: 'outcome',
      finished: 'finished',
      ...none,
    });
    const ran = await planned({ more: (hash) => [over(hash)] });
    expect([ran.code, slotsOf(ran)]).toEqual([0, []]);
    expect(dataOf(ran).strategies[0]).toMatchObject({ standing: 'finished' });
    expectCheck(ran, 'window');
  });

  it('plans an edited strategy from now on and reports that the old text is running', async () => {
    const ran = await planned({ text: TWAP.replace('slices: 4', 'slices: 6') });
    expect(slotsOf(ran)[0]).toBe('2026-11-21 12:00:00');
    expect(dataOf(ran).strategies[0]).toMatchObject({ standing: 'edited', slots_passed: 0 });
  });

  it('counts trades of today, but not of yesterday, against the limits of the day', async () => {
    const fill = (at: Instant): RecordBody => aFill({ executed_at: at, notional_usd: '4980000' });
    const today = await planned({ more: () => [fill(instant(NOON - 30 * MINUTE_MS))] });
    expectRan(today, 78);
    expectCheck(today, 'day', ['refused', 'max_day_notional 5000000']);
    const before = await planned({ more: () => [fill(instant(NOON - 13 * 60 * MINUTE_MS))] });
    expectCheck(before, 'day', ['ok', 'this includes 0 traded today']);
  });

  it('ignores a journal that cannot be read, and reports that', async () => {
    const folder = aFolder({ 'one.yaml': TWAP, 'bad.db': 'no database' });
    const journal = `sqlite:${join(folder, 'bad.db')}`;
    put(folder, { 'desk.yaml': `strategies: one.yaml\njournal: "${journal}"\n` });
    const ran = await look(folder, ['plan', '--config', 'desk.yaml', '--json']);
    expect([ran.code, slotsOf(ran).length]).toEqual([0, 4]);
    expect(ran.err).toContain('the plan assumes that no strategy has started');
  });
});
