import { describe, expect, it } from 'vitest';
import { deskApi } from '../../src/app/desk-api/desk-api.ts';
import { SECOND_MS } from '../../src/core/time.ts';
import { aBench, aTwap, started } from '../engine/harness.ts';

describe('the status of a desk', () => {
  it('computes the slots of a life once, however often it is requested', () => {
    const twap = aTwap();
    let looks = 0;
    const slots: typeof twap.bound.slots = (...given) => (looks++, twap.bound.slots(...given));
    const bench = started({ strategies: [{ ...twap, bound: { ...twap.bound, slots } }] }, SECOND_MS);
    const desk = deskApi(bench.desk, () => undefined);
    const before = looks;
    for (let n = 0; n < 5; n++) expect(desk.status()).toMatchObject({ strategies: [{ slices_total: 10 }] });
    expect(looks - before).toBe(1);
  });
});

describe('refused callers', () => {
  it('are reported at most once in ten seconds, with the number of refusals in between', () => {
    const told: unknown[] = [];
    const bench = aBench({
      strategies: [],
      observer: { alert: (id, facts) => (id === 'access_refused' ? told.push(facts) : undefined) },
    });
    const desk = deskApi(bench.desk, () => undefined);
    const stranger = { path: '/api/v1/halt', by: 'none', address: '192.0.2.1', needed: 'operator' } as const;
    for (let n = 0; n < 1_000; n++) desk.refused(stranger);
    expect(told).toEqual([stranger]);
    bench.until(9 * SECOND_MS);
    desk.refused(stranger);
    expect(told).toHaveLength(1);
    bench.until(10 * SECOND_MS);
    desk.refused({ ...stranger, by: 'ann', role: 'viewer' });
    expect(told[1]).toEqual({ ...stranger, by: 'ann', role: 'viewer', and_others: 1_000 });
  });
});
