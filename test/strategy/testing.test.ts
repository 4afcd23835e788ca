import { describe, expect, it } from 'vitest';
import { guideCode } from '../docs/module-guide.ts';
import { defineKernel, later, nextBar, text, z } from '../../src/strategy/sdk.ts';
import type { Step, Wait } from '../../src/strategy/sdk.ts';
import { testKernel } from '../../src/strategy/testing.ts';
import type { TestDocument } from '../../src/strategy/testing.ts';
import { loadModule } from '../../src/app/strategies/modules.ts';

const document: TestDocument = {
  pairs: ['btcusd'],
  total_notional: { amount: '1000', currency: 'usd' },
  max_intents_per_minute: 10,
};
const kernelOf = (step: () => Partial<Step<object>>, waits: readonly Wait[] = []) =>
  defineKernel({
    params: z.strictObject({}),
    start: (_, view) => ({
      state: {},
      waits: waits.length > 0 ? waits : [{ on: 'at', at: later(view.at, 'PT1M') }],
    }),
    step: (state, _wake, _params, view) => ({
      state,
      waits: [{ on: 'at', at: later(view.at, 'PT1M') }],
      ...step(),
    }),
  });
const buy = { pair: 'btcusd', side: 'buy', notional: '300' } as const;

describe('the test bench for kernels', () => {
  it('runs the kernel of the guide as the guide describes', () => {
    const { kernel } = loadModule({ file: 'dip-buyer.ts', sha256: 'bench', text: guideCode('dip-buyer.ts') }) as { readonly kernel: Parameters<typeof testKernel>[0] }; // prettier-ignore
    const bench = testKernel(
      kernel,
      {
        pairs: ['btcusd'],
        side: 'buy',
        total_notional: { amount: '10000', currency: 'usd' },
        params: { pair: 'btcusd', each: '500', dip: '0.02', look: 'PT1M' },
      },
      { prices: { btcusd: '60000' }, balances: { usd: '10000' } },
    );
    bench.advance('PT1M');
    bench.price('btcusd', '58000');
    bench.advance('PT1M');
    expect(bench.intents).toMatchObject([{ side: 'buy', notional: '500', limit: '58800', isOpen: true }]);
    expect(bench.steps.at(-1)?.note).toBe('a dip from 60000');
    bench.fill(0);
    expect(bench.fault).toBeUndefined();
  });

  it('wakes the kernel at every instant that it waits for, and on a price only if it waits for one', () => {
    const bench = testKernel(
      kernelOf(() => ({})),
      document,
    );
    bench.price('btcusd', '1');
    expect(bench.steps.map(({ on }) => on)).toEqual(['start']);
    bench.advance('PT3M30S');
    expect(bench.steps.map(({ on }) => on)).toEqual(['start', 'at', 'at', 'at']);
    const level = [{ on: 'price', pair: 'btcusd', is: 'at_or_below', level: '90' }] as const;
    const waiting = testKernel(
      kernelOf(() => ({}), level),
      document,
      { prices: { btcusd: '100' } },
    );
    waiting.advance('PT10S');
    waiting.price('btcusd', '91');
    expect(waiting.steps).toHaveLength(1);
    waiting.price('btcusd', '90');
    expect(waiting.steps.map(({ on }) => on)).toEqual(['start', 'price']);
  });

  it('moves balances on a fill, expires an unfilled intent, and reports both to the kernel', () => {
    const bench = testKernel(
      kernelOf(() => ({ intents: [buy] })),
      document,
      {
        prices: { btcusd: '100' },
        balances: { usd: '1000' },
      },
    );
    bench.advance('PT1M');
    bench.fill(0);
    bench.advance('PT2M');
    expect(bench.steps.map(({ on }) => on).filter((on) => on === 'outcome').length).toBeGreaterThan(1);
    expect(bench.intents[0]?.isOpen).toBe(false);
    expect(() => { bench.fill(0); }).toThrow('there is no open intent 0'); // prettier-ignore
  });

  it('faults a kernel as a desk would, and takes no further step', () => {
    const kernel = kernelOf(() => ({ intents: [{ ...buy, notional: '1001' }] }));
    const bench = testKernel(kernel, document, { prices: { btcusd: '100' } });
    bench.advance('PT5M');
    expect(bench.fault).toContain('it wants 1001, and 1000 of its total of 1000 is left');
    expect(bench.intents).toEqual([]);
    expect(bench.steps).toHaveLength(2);
  });

  it('shows a bar only at its end, and refuses bars that the kernel has not declared', () => {
    const seen: string[] = [];
    const kernel = defineKernel({
      params: z.strictObject({}),
      bars: () => [{ pair: 'btcusd', interval: 'PT5M', count: 2 }],
      start: (_, view) => ({ state: {}, waits: [{ on: 'at', at: nextBar(view.at, 'PT5M') - 1 }] }),
      step(state, _wake, _params, view) {
        seen.push(view.bars('btcusd', 'PT5M').map(({ close }) => text(close)).join(' '));
        if (seen.length === 4) view.bars('btcusd', 'PT1H');
        return { state, waits: [{ on: 'at', at: nextBar(view.at, 'PT5M') }] };
      },
    }); // prettier-ignore
    const bench = testKernel(kernel, document);
    for (const close of ['1', '2', '3'])
      bench.bar('btcusd', 'PT5M', { open: close, high: close, low: close, close });
    expect(seen).toEqual(['', '1', '1 2', '2 3']);
    expect(bench.fault).toContain('bars of btcusd PT1H are not declared');
  });

  it('refuses a document that validate would refuse', () => {
    const broken = { ...document, total_notional: { amount: '1000', currency: 'eur' } };
    expect(() =>
      testKernel(
        kernelOf(() => ({})),
        broken,
      ),
    ).toThrow('the total of btcusd must be in usd, not eur');
  });
});
