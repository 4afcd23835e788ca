import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { faultPlanSchema } from '../../../src/simulator/faults/faults.ts';
import type { FaultPlan } from '../../../src/simulator/faults/faults.ts';
import { expectNoToken, expectWholeJournal } from '../support/checks.ts';
import { aDesk, aFolder } from '../support/desk.ts';
import type { FillRow } from '../support/desk.ts';
import { expectSameSums, expectSlicesOnce, expectSlicesWithin, twapOf } from '../support/drill.ts';
import { expectExecutedOnce, expectSameStory, readLedger, readTrades } from '../support/ledger.ts';
import type { Row } from '../support/ledger.ts';
import { ROOT, finish } from '../support/program.ts';
import type { Event } from '../support/program.ts';
import { admin, aVenueProcess, faultsOf } from '../support/venue.ts';
import type { FaultCount, ServedVenue } from '../support/venue.ts';

/**
 * The drills that are shipped, a test file each list: they mostly wait, so their files run side by side. What stands in no list
 * is in `answers`.
 */
const FAULTS = join(ROOT, 'config/faults');
const amounts = [
  'amended-rows.yaml',
  'booked-in-parts.yaml',
  'fees-as-rows.yaml',
  'parts-without-trade-ids.yaml',
];
const spelling = ['ledger-clock.yaml', 'leg-directions.yaml', 'odd-fields.yaml', 'symbol-spelling.yaml'];
const late = ['executed-although-canceled.yaml', 'late-ids.yaml'];
/** Rows of these venues cannot be attributed when an answer is lost and the desk cannot look orders up. */
const open = ['order-ids-only.yaml', 'mangled-client-ids.yaml'];
const twice = ['executed-twice.yaml'];
const named = new Set([...amounts, ...spelling, ...late, ...open, ...twice]);
const answers = readdirSync(FAULTS).filter((file) => file.endsWith('.yaml') && !named.has(file));
export const DRILLS = { amounts, answers, late, open, spelling, twice };
const PARTS = 'booked-in-parts.yaml';
/** In these drills the rows of an order are not just its legs, or change later. */
const SUMS: ReadonlySet<string> = new Set(
  [...amounts, ...spelling, ...late].filter((file) => file !== PARTS),
);
/** In these drills the amounts are not only those of the trades: the books show whether every fee and amendment counts. */
const BOOKS: ReadonlySet<string> = new Set(['amended-rows.yaml', 'fees-as-rows.yaml']);
/** Drills that lose responses or give false ones. */
const LOSING: ReadonlySet<string> = new Set(['lost-replies.yaml', ...SUMS]);
/** How long the faults last: as long as the strategies decide. */
const DRILL_MS = 32_000;
/** The last rows of a drill appear or change within this time of their order. */
const ROWS_MS = 12_000;
/** Proof of absence waits for the life of a quote and the margin; a busy machine and the limit of reads add to it. */
const CALM_MS = 240_000;
/** The quote of the lost order, the margin, two reads, and time in which a desk that believes them would go on. */
const OPEN_MS = 75_000;
/** The last execution comes within twelve seconds, and the account is read once a minute. */
const TWICE_MS = 80_000;

const portfolio = {
  id: 'hold',
  kind: 'rebalance',
  target_weights: { btc: '0.5', eth: '0.3', usd: '0.2' },
  drift_threshold: '0.01',
  min_trade_notional: { amount: '100', currency: 'usd' },
  min_interval: 'PT2S',
  leg_timeout: 'PT8S',
  duration: 'PT28S',
};

/** Rules with probability 1 that never struck a request. */
function idleOf(counts: readonly FaultCount[], plan: FaultPlan): readonly string[] {
  const certain = [...plan.rules, ...plan.feeds].filter(({ probability }) => probability === 1);
  return certain
    .map(({ name }) => name)
    .filter((name) => (counts.find((each) => each.name === name)?.struck ?? 0) === 0);
}

/** Checks that orders were booked in several trades, that every trade counts, and that the desk was not halted. */
function expectBookedInParts(
  fills: readonly FillRow[],
  records: readonly Event[],
  rows: readonly Row[],
): void {
  expect(new Set(rows.map((row) => row['trade_id'])).size).toBeGreaterThan(fills.length);
  expect(records.filter(({ kind, state }) => kind === 'control' && state === 'halted')).toEqual([]);
  expectSameSums(fills, records, rows);
}

/** Checks that the journal has the sums of every order of the ledger, and that the desk was not halted. */
function expectLedger(fills: readonly FillRow[], records: readonly Event[], ledger: readonly Row[]): void {
  expect(records.filter(({ kind, state }) => kind === 'control' && state === 'halted')).toEqual([]);
  const trades = ledger.filter((row) => row['trade_id'] !== undefined);
  expectSameSums(fills, records, trades);
}

/** Checks that the ledger of the journal and the account's history equals the balances of the account exactly. */
async function expectLedgerOfTheAccount(desk: ReturnType<typeof aDesk>, venue: ServedVenue): Promise<void> {
  const options = { cwd: desk.folder, env: { TRANCHE_OPERATOR_TOKEN: venue.token } };
  const read = ['account', 'transactions', '--from', '0', '--limit', '1000', '--json', '--base-url', venue.baseUrl]; // prettier-ignore
  // The daemon and this command share the rate limit of the route.
  let page = await finish(read, options);
  for (let again = 0; page.code === 75 && again < 5; again++) {
    await sleep(10_000);
    page = await finish(read, options);
  }
  expect(page.code).toBe(0);
  writeFileSync(join(desk.folder, 'history.jsonl'), page.stdout);
  const compare = ['journal', 'export', desk.journal, '--history', 'history.jsonl'];
  const { code, stderr } = await finish(compare, options);
  expect([code, stderr]).toEqual([0, '']);
}

/** The tests of drills in which every doubt ends by itself. */
export function executesOnce(drills: readonly string[]): void {
  it.each(drills)(
    'executes no slice beyond its plan and has the same trades as the venue: %s',
    async (file) => {
      const venue = await aVenueProcess(['--faults', join(FAULTS, file)], aFolder());
      const desk = aDesk({
        venue,
        strategies: [{ ...twapOf({ id: 'btc', slices: 14, everyMs: 2_000 }), catch_up: 'extend' }, portfolio],
        config: {
          in_doubt: { booking_margin: 'PT2S' },
        },
      });
      const daemon = desk.run('--json', '--until-done');
      const plan = faultPlanSchema.parse(parse(readFileSync(join(FAULTS, file), 'utf8')));
      await daemon.event('started');
      await sleep(DRILL_MS / 2);
      // Disabled rules are enabled for the second half.
      for (const { name } of plan.rules.filter(({ enabled }) => !enabled))
        await admin(venue, `PATCH faults/${encodeURIComponent(name)}`, { enabled: true });
      await sleep(DRILL_MS / 2);
      const counts = await faultsOf(venue);
      // How the venue lists its rows stays as it was: its ids cannot change with the end of a drill.
      const kept = plan.rules.filter(({ fault }) => fault.kind === 'lists');
      await admin(venue, 'PUT faults', { rules: kept });
      expect(await daemon.ended(CALM_MS)).toEqual({ code: 0, signal: null });
      if (SUMS.has(file)) await sleep(ROWS_MS);
      // A second start reads the account again and resolves open doubts of the first.
      expect(await desk.run('--json', '--until-done').ended(CALM_MS)).toEqual({ code: 0, signal: null });

      const [fills, records] = [await desk.fills(), await desk.records()];
      expect(idleOf(counts, plan)).toEqual([]);
      expect(counts.some(({ struck }) => struck > 0)).toBe(true);
      for (const id of ['btc', 'hold'])
        expect(fills.filter(({ strategy }) => strategy === id).length).toBeGreaterThan(0);
      // Each lost response is a doubt at first; a drill without doubts would prove nothing.
      const results = records.filter(({ kind }) => kind === 'attempt').map(({ result }) => result);
      const isAsMeant = !LOSING.has(file) || results.includes('doubt');
      expect({ file, isAsMeant }).toEqual({ file, isAsMeant: true });
      expectSlicesOnce(fills, records, { id: 'btc', total: '1.4', isComplete: false });
      expectSlicesWithin(fills, records);
      const ledger = await readLedger(venue);
      expectExecutedOnce(ledger);
      if (SUMS.has(file)) expectLedger(fills, records, ledger);
      else if (file === PARTS) expectBookedInParts(fills, records, await readTrades(venue));
      else expectSameStory(fills, await readTrades(venue));
      if (file === PARTS || BOOKS.has(file)) await expectLedgerOfTheAccount(desk, venue);
      await expectWholeJournal(desk);
      expectNoToken(desk);
      expect(venue.program.hasEnded).toBe(false);
    },
  );
}

/** The tests of drills in which a person must say whose rows are. */
export function keepsOpen(drills: readonly string[]): void {
  it.each(drills)('keeps an order in doubt that may have traded, and names the rows: %s', async (file) => {
    const venue = await aVenueProcess(['--faults', join(FAULTS, file)], aFolder());
    const { baseUrl, token } = venue;
    const desk = aDesk({
      // Without capabilities: the desk cannot look orders up.
      venue: { baseUrl, token },
      strategies: [{ ...twapOf({ id: 'btc', slices: 14, everyMs: 2_000 }), catch_up: 'extend' }],
      config: { in_doubt: { booking_margin: 'PT2S' } },
    });
    const daemon = desk.run('--json');
    await daemon.event('started');
    await sleep(OPEN_MS);
    const told = await desk.command('doubts', '--config', 'desk.yaml', '--json');
    const ledger = await readLedger(venue);
    daemon.signal('SIGTERM');
    expect(await daemon.ended(CALM_MS)).toMatchObject({ signal: null });

    expectExecutedOnce(ledger);
    const [fills, records] = [await desk.fills(), await desk.records()];
    const filled = new Set(fills.map(({ client_order_id: id }) => id));
    const lost = ledger.filter((row) => !filled.has(row['client_order_id'] ?? ''));
    // The order without a response: one doubt, with both of its rows.
    expect(new Set(lost.map((row) => row['client_order_id'])).size).toBe(1);
    expect(told.code).toBe(0);
    const { doubts } = JSON.parse(told.stdout) as { readonly doubts: readonly Event[] };
    expect(doubts.map((doubt) => doubt['client_order_id'])).toEqual([lost[0]?.['client_order_id']]);
    for (const { id } of lost) expect(JSON.stringify(doubts)).toContain(String(id));
    expectSlicesOnce(fills, records, { id: 'btc', total: '1.4', isComplete: false });
    await expectWholeJournal(desk, [lost[0]?.['client_order_id'] ?? '']);
  });
}

/** The tests of drills in which the venue breaks the promise. */
export function reportsTwice(drills: readonly string[]): void {
  it.each(drills)(
    'reports an order that was executed twice, halts, and books both executions exactly: %s',
    async (file) => {
      const venue = await aVenueProcess(['--faults', join(FAULTS, file)], aFolder());
      const desk = aDesk({
        venue,
        strategies: [twapOf({ id: 'btc', slices: 14, everyMs: 2_000 })],
        config: { in_doubt: { booking_margin: 'PT2S' } },
      });
      const daemon = desk.run('--json');
      await daemon.event('control', { withinMs: CALM_MS });
      // Second executions are booked while the desk is halted.
      await sleep(TWICE_MS);
      daemon.signal('SIGTERM');
      expect(await daemon.ended(CALM_MS)).toMatchObject({ signal: null });
      expect(readFileSync(join(desk.folder, 'journal.db.log'), 'utf8')).toContain('"alert":"executed_twice"');
      const [fills, records] = [await desk.fills(), await desk.records()];
      expect(records.filter(({ kind, state }) => kind === 'control' && state === 'halted')).not.toEqual([]);
      expectSameSums(fills, records, await readTrades(venue));
      expect(new Set(fills.map(({ client_order_id: id }) => id)).size).toBe(fills.length);
      await expectWholeJournal(desk);
    },
  );
}
