import { describe, expect, it } from 'vitest';
import type { FillRecord, RecordBody } from '../../src/core/record.ts';
import { DAY_MS, instant } from '../../src/core/time.ts';
import { EngineState } from '../../src/engine/state/engine-state.ts';
import { aFill } from '../journal/records.ts';

const fill = (id: string, at: number): FillRecord => aFill({ client_order_id: id, executed_at: instant(at) });

const apply = (state: EngineState, at: number, body: RecordBody): void => {
  state.apply({ seq: 1, at: instant(at), hash: '', body });
};

describe('the ids of filled orders', () => {
  it('are kept after the clock is set forward by days', () => {
    const state = new EngineState();
    const wrong = Date.UTC(2026, 0, 1);
    const right = wrong + 3 * DAY_MS;
    apply(state, wrong, fill('first', wrong));
    apply(state, right, fill('second', right));

    expect([...state.filledIds.keys()]).toStrictEqual(['first', 'second']);
    expect(state.rememberedSince).toBe(0);
  });

  it('are dropped once old and over 10,000 in number, and the state keeps the time since which it knows all ids', () => {
    const state = new EngineState();
    const then = Date.UTC(2026, 0, 1);
    for (let i = 0; i < 12_500; i++) apply(state, then, fill(`old ${i}`, then));
    const now = then + 3 * DAY_MS;
    apply(state, now, fill('new', now));

    expect(state.filledIds.has('old 0')).toBe(false);
    expect(state.filledIds.size).toBe(10_000);
    expect(state.rememberedSince).toBe(now - 2 * DAY_MS);
  });
});
