import { describe, expect, it } from 'vitest';
import { DAY_MS, after, instant } from '../../src/core/time.ts';
import { compareRowIds } from '../../src/core/ids.ts';
import { START, aTwap } from './harness.ts';
import { aDesk, alertsOf, bodies, bought, firstLost, halts, nextDesk, seconds, sold } from './odd-account.ts';
import type { Script, Watched } from './odd-account.ts';

/** One slice a minute for an hour. */
const long = { strategies: [aTwap('t', { slices: 60, duration: 'PT1H' })] };
const lastQuery = ({ queries }: Watched) => queries.findLast(({ types }) => types === undefined);

describe('a read of the account', () => {
  it('begins after a row once the journal knows one, whatever the stamps say', () => {
    const one = aDesk({}, long);
    expect(lastQuery(one)?.after).toBeUndefined();
    seconds(one, 3_000);
    expect(lastQuery(one)).toMatchObject({ from: 1 });
    expect(lastQuery(one)?.after).toMatch(/^\d+$/u);
    expect(Number(lastQuery(one)?.to)).toBeGreaterThan(after(START, 30 * DAY_MS));
  });

  it('begins after the last row before an open doubt, also in the next processes', () => {
    // Half an hour after its start the desk is in doubt; the rows show in the next process, 400 days off.
    let lost = '';
    let isShown = false;
    const script: Script = {
      order: (nth, id) => (nth === 35 ? ((lost = id), 'answer lost') : undefined),
      shown: (rows) =>
        rows
          .filter(({ clientId }) => isShown || clientId !== lost || lost === '')
          .map((row) => (row.clientId === lost ? { ...row, at: instant(row.at - 400 * DAY_MS) } : row)),
    };
    const one = aDesk(script, long);
    seconds(one, 34 * 60 + 20);
    const before = lastQuery(one)?.after ?? '';
    expect(before).not.toBe('');
    expect(one.bench.desk.state.doubts).toHaveLength(1);
    isShown = true;
    const next = nextDesk(one, { shown: script.shown }, long);
    seconds(next, 34 * 60 + 35);
    expect(compareRowIds(lastQuery(next)?.after ?? 'none', before)).toBeLessThanOrEqual(0);
    expect(bodies(next, 'fill').some(({ client_order_id: id }) => id === lost)).toBe(true);
    seconds(next, 4_500);
    expect([bought(next), sold(next), halts(next).length]).toEqual(['1', '1', 0]);
  });

  it('goes back as far as before while a doubt is open, however much is traded meanwhile', () => {
    const ids = (rows: Parameters<NonNullable<Script['shown']>>[0]) => rows.map((row) => ({ ...row, clientId: undefined }));
    const one = aDesk({ order: firstLost, shown: ids }, { ...long, policy: { onDifference: 'alert' } });
    seconds(one, 3_000);
    const [open] = one.bench.desk.state.doubts;
    expect(open?.intent.slice).toBe(0);
    const next = nextDesk(one, { shown: ids }, long);
    seconds(next, 3_100);
    // The rows still hold it open in a process that never saw the order.
    expect(next.bench.desk.account.evidence.get(open?.intent.client_order_id ?? '')?.rows).toHaveLength(2);
  });

  it.each<readonly [string, (id: string) => string]>([
    ['beyond 2^53', (id) => `9007199254740993${id}`],
    ['that are no numbers', (id) => `row-${id}`],
  ])('works with ids of rows %s', (_, idOf) => {
    const one = aDesk({ order: firstLost, shown: (rows) => rows.map((row) => ({ ...row, id: idOf(row.id) })) });
    seconds(one, 900);
    expect([bought(one), sold(one), halts(one).length]).toEqual(['1', '1', 0]);
    const next = nextDesk(one, { shown: (rows) => rows.map((row) => ({ ...row, id: idOf(row.id) })) });
    seconds(next, 1_000);
    expect([bought(next), halts(next).length, alertsOf(next)]).toEqual(['1', 0, []]);
  });
}); // prettier-ignore

describe('a live desk with an empty journal', () => {
  it('trades at once if its journal knows the account', () => {
    const one = aDesk({}, { policy: { mode: 'live' } });
    seconds(one, 70);
    const next = nextDesk(one, {}, { policy: { mode: 'live' } });
    seconds(next, 600);
    expect([sold(next), halts(next).length]).toEqual(['1', 0]);
  });

  it('is halted if its journal was lost on an account whose list carries order ids only', () => {
    const shown: Script['shown'] = (rows) => rows.map((row) => ({ ...row, clientId: undefined }));
    const one = aDesk({ shown }, { policy: { mode: 'live' } });
    seconds(one, 70);
    const next = nextDesk(one, { shown }, { journal: undefined, policy: { mode: 'live' } });
    seconds(next, 80);
    expect([sold(next), next.bench.desk.control]).toEqual(['0.5', 'halted']);
  });
}); // prettier-ignore
