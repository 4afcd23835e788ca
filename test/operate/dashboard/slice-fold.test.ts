import { describe, expect, it } from 'vitest';
import { SliceFold, keyOf } from '../../../src/operate/dashboard/data/slice-fold.ts';
import type { Slice } from '../../../src/operate/dashboard/data/shapes.ts';

const of = { strategy: 'twap', parent: 'p1', slice: 3 };
const order = { client_order_id: 'c1', ...of, attempt: 1, pair: 'btcusd', side: 'buy' };
const at = '2026-12-01T09:00:00.000Z';
const due = Date.parse('2026-12-01T08:59:59.000Z');
const bodies = [
  {
    kind: 'wake',
    strategy: 'twap',
    on: 'at',
    detail: { due },
    waits: [],
    missed: [],
    intents: [{ leg: 'all', ...of, pair: 'btcusd', side: 'buy', by: 'quantity', size: '0.05', deadline: due }],
  },
  { kind: 'intent', ...order, size: '0.05' },
  { kind: 'quote', client_order_id: 'c1', quote_id: 'q', quantity: '0.05', price: '64000', amount: '3200', life_ms: 3000 },
  { kind: 'fill', ...order, price: '64000', quantity: '0.05', amount: '3200', fees: '0', executed_at: due + 900 },
  { kind: 'attempt', client_order_id: 'c1', result: 'filled' },
  { kind: 'slice', ...of, leg: 'all', result: 'filled', filled: '0.05', filled_amount: '3200' },
]; // prettier-ignore

function after(count: number): Slice | undefined {
  const fold = new SliceFold(10);
  for (const [n, body] of bodies.slice(0, count).entries())
    fold.apply({ seq: n + 1, at, kind: body.kind, body });
  return fold.get(keyOf(of));
}

describe('the slices in the dashboard', () => {
  it('follow the records of a slice from its wake to its end', () => {
    expect(after(1)).toMatchObject({ state: 'open', planned: '0.05', due_at: new Date(due).toISOString() });
    expect(after(2)?.attempts).toStrictEqual([{ client_order_id: 'c1', attempt: 1, asked_at: at }]);
    expect(after(3)?.attempts[0]?.quote).toStrictEqual({ price: '64000', quantity: '0.05', life_ms: 3000 });
    expect(after(4)).toMatchObject({ filled: '0.05', filled_amount: '3200' });
    expect(after(6)).toMatchObject({ state: 'filled', filled: '0.05', ended_at: at, seq: 6 });
    expect(after(6)?.attempts).toHaveLength(1);
    expect(after(6)?.attempts[0]).toMatchObject({
      result: 'filled',
      fill: { price: '64000', executed_at: new Date(due + 900).toISOString() },
    });
  });

  it('include missed slices, with the data of the parent of their strategy', () => {
    const fold = new SliceFold(10);
    fold.put({ ...of, pair: 'btcusd', side: 'buy', state: 'open', attempts: [] });
    const body = { strategy: 'twap', on: 'at', missed: [{ leg: 'all', slice: 4, due, size: '0.05' }] };
    fold.apply({ seq: 9, at, kind: 'wake', body });

    expect(fold.get(keyOf({ ...of, slice: 4 }))).toMatchObject({
      state: 'missed',
      planned: '0.05',
      side: 'buy',
    });
  });

  it('keep the newest slices if there are too many', () => {
    const fold = new SliceFold(3);
    for (let slice = 0; slice < 10; slice += 1)
      fold.put({ ...of, slice, pair: 'btcusd', side: 'buy', state: 'filled', attempts: [] });

    expect(fold.all.map(({ slice }) => slice)).toStrictEqual([7, 8, 9]);
  });
});
