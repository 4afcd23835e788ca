import { describe, expect, it } from 'vitest';
import { MINUTE_MS, after } from '../../src/core/time.ts';
import { deskApi } from '../../src/app/desk-api/desk-api.ts';
import type { OperatedDesk } from '../../src/operate/api/operated-desk.ts';
import { START, aBench, aTwap } from '../engine/harness.ts';

function operated(): OperatedDesk {
  const bench = aBench({ strategies: [aTwap('t', { slices: 4, duration: 'PT20M' })] });
  bench.start();
  bench.clock.run(after(START, MINUTE_MS));
  return deskApi(bench.desk, (command) => {
    bench.operator$.next(command);
  });
}

const wish = { limit: 'max_order_notional', value: '75000', pair: 'btcusd', side: 'buy', why: 'w' };

const person = (name: string) => ({ name, kind: 'person' as const });

describe('an override through the control plane', () => {
  it('is proposed, approved with another token, and shown in the status', async () => {
    const desk = operated();
    expect(await desk.obey({ do: 'propose', by: 'ann', token: person('ann'), body: wish })).toMatchObject({
      isDone: true,
    });
    const body = { override: 'ov-1', why: 'agreed' };
    expect(await desk.obey({ do: 'approve', by: 'ben', token: person('ann'), body })).toMatchObject({
      isDone: false,
    });
    expect(await desk.obey({ do: 'approve', by: 'ben', token: person('ben'), body })).toMatchObject({
      isDone: true,
    });
    expect(desk.status()).toMatchObject({
      overrides: [
        { id: 'ov-1', state: 'approved', value: '75000', proposed_by: 'ann', approved_by: 'ben', why: 'w' },
      ],
    });
  });

  it.each([
    { limit: 7 },
    { why: undefined },
    { value: 75_000 },
    { side: 'both' },
    { minutes: '5' },
    { slice: 1.5, parent: 'x', pair: undefined, side: undefined },
    { pair: 'x'.repeat(501) },
  ])('is rejected with a message if it contains %j', async (over) => {
    const desk = operated();
    const { isDone, says } = await desk.obey({
      do: 'propose',
      by: 'ann',
      token: person('ann'),
      body: { ...wish, ...over },
    });
    expect(isDone).toBe(false);
    expect(says).not.toMatch(/does not take commands/u);
    expect(desk.status()).toMatchObject({ overrides: [] });
  });
});
