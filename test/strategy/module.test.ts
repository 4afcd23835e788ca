import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, money, price, quantity, subtract, text } from '../../src/core/money.ts';
import { instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { AnyStrategy, Step } from '../../src/strategy/kernel.ts';
import * as sdk from '../../src/strategy/sdk.ts';
import { defineKernel, later, z } from '../../src/strategy/sdk.ts';
import type { Intent, Kernel, View as OwnView, Wake } from '../../src/strategy/sdk.ts';
import { amountOf, aView, intentsOf, Life, NINE, problemsOf } from './views.ts';
import { codeIn } from '../../src/strategy/kinds/module/module-code.ts';
import { moduleWith } from './module-kind.ts';

const PLAN = {
  module: './x.ts',
  pairs: ['btcusd', 'btceur'],
  side: 'buy',
  total_quantity: { amount: '1', currency: 'btc' },
  max_intents_per_minute: 3,
};

const anyParams = z.record(z.string(), z.unknown());
/** A kernel that waits a minute and then returns `what`. */
const returning = (what: unknown): AnyStrategy =>
  moduleWith({
    params: anyParams,
    start: () => ({ state: {}, waits: [{ on: 'at', at: NINE + MINUTE_MS }] }),
    step: () => (typeof what === 'function' ? (what as () => unknown)() : what),
  });
const anIntent = (over: Partial<Record<keyof Intent, unknown>> = {}): Record<string, unknown> => ({
  pair: 'btcusd',
  side: 'buy',
  quantity: '0.25',
  ...over,
});
const asking = (...intents: readonly unknown[]): AnyStrategy => returning({ state: {}, intents });

/** Counts its steps, and requests a quarter of the total in each step that is not an outcome. */
const counter: Kernel<unknown, { n: number; heard: string[] }> = defineKernel({
  params: anyParams,
  start: (_, view) => ({
    state: { n: 0, heard: [] as string[] },
    waits: [{ on: 'at', at: later(view.at, 'PT1M') }],
  }),
  step(state, wake, _, view) {
    const waits = [{ on: 'at' as const, at: later(view.at, 'PT1M') }];
    if (wake.on === 'outcome')
      return {
        state: { ...state, heard: [...state.heard, `${wake.outcome.tag} ${wake.outcome.result}`] },
        waits,
      };
    const intents = [
      { pair: 'btcusd', side: 'buy' as const, quantity: quantity('0.25'), tag: `no-${state.n}` },
    ];
    return { state: { ...state, n: state.n + 1 }, waits, intents };
  },
});

describe('a module', () => {
  it('requests trades within its declared total, each intent as a separate parent', () => {
    const life = new Life(moduleWith(counter), PLAN);
    const first = life.arrive();
    expect(intentsOf(first).map((one) => [one.leg, one.slice, one.pair, text(amountOf(one))])).toEqual([
      ['0', 0, 'btcusd', '0.25'],
    ]);
    expect(intentsOf(first)[0]?.deadline).toBe(NINE + 2 * MINUTE_MS);
    expect(intentsOf(life.arrive()).map(({ leg }) => leg)).toEqual(['1']);
  });

  it('receives the outcome of every intent without a wait for it, and can use the untraded part again', () => {
    const life = new Life(moduleWith(counter), PLAN);
    const step = life.arrive();
    expect(step.waits).toContainEqual({ on: 'outcome', leg: '0', slice: 0 });
    const after = life.end({ leg: '0', slice: 0, result: 'skipped' }, instant(NINE + 90 * SECOND_MS));
    expect(after.state).toMatchObject({ own: { n: 1, heard: ['no-0 skipped'] }, traded: '0', open: {} });
    const late = life.end({ leg: '0', slice: 0, filled: quantity('0.25') }, life.due);
    expect(late.state).toMatchObject({ own: { heard: ['no-0 skipped', 'no-0 filled'] }, traded: '0.25' });
  });

  it('never starts more than its total, whatever it requests and whatever part of it trades', () => {
    /** Asks for the next of its sizes each minute. */
    const greedy = (sizes: readonly string[]): AnyStrategy =>
      moduleWith({
        params: anyParams,
        start: (_: unknown, view: { at: number }) => ({
          state: 0,
          waits: [{ on: 'at', at: later(view.at, 'PT1M') }],
        }),
        step(n: number, wake: Wake, _: unknown, view: { at: number }) {
          const waits = [{ on: 'at', at: later(view.at, 'PT1M') }];
          const asked = wake.on === 'outcome' ? undefined : sizes[n];
          if (asked === undefined) return { state: n, waits };
          return { state: n + 1, waits, intents: [anIntent({ quantity: asked })] };
        },
      });
    const size = fc.integer({ min: 1, max: 60 }).map((n) => (n / 100).toFixed(2));
    const part = fc.constantFrom<0 | 0.5 | 1 | 'late' | 'open'>(0, 0.5, 1, 'late', 'open');
    fc.assert(
      fc.property(fc.array(fc.tuple(size, part), { minLength: 1, maxLength: 12 }), (turns) => {
        const life = new Life(greedy(turns.map(([asked]) => asked)), { ...PLAN, max_intents_per_minute: 60 });
        let [open, traded, at] = [quantity('0'), quantity('0'), life.due];
        const legs: string[] = [];
        for (const [asked, became] of turns) {
          const left = subtract(quantity('1'), add(open, traded));
          const step = life.wake({ on: 'at', at, due: at });
          at = instant(at + MINUTE_MS);
          expect(step.fault !== undefined).toBe(quantity(asked).gt(left));
          if (step.fault !== undefined) return;
          const [intent] = intentsOf(step);
          if (intent === undefined) throw new Error('it asked');
          legs.push(intent.leg);
          expect(text(amountOf(intent))).toBe(text(quantity(asked)));
          expect(
            Math.min(...step.waits.flatMap((one) => (one.on === 'at' ? [one.at] : []))),
          ).toBeGreaterThanOrEqual(at - MINUTE_MS + SECOND_MS);
          if (became === 'open') open = add(open, quantity(asked));
          else {
            const filled = became === 'late' ? quantity('0') : quantity((Number(asked) * became).toFixed(8));
            life.end({ leg: intent.leg, slice: 0, filled }, instant(at - SECOND_MS));
            traded = add(traded, filled);
            if (became === 'late') {
              life.end({ leg: intent.leg, slice: 0, filled: quantity(asked) }, instant(at - SECOND_MS));
              traded = add(traded, quantity(asked));
            }
          }
        }
        expect(new Set(legs).size).toBe(legs.length);
        expect(add(open, traded).lte(1)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('counts a total in quote currency by the amount paid', () => {
    const kernel = {
      ...counter,
      step: () => ({ state: {}, intents: [anIntent({ quantity: undefined, notional: money('70') })] }),
    };
    const plan = {
      ...PLAN,
      pairs: ['btcusd'],
      total_quantity: undefined,
      total_notional: { amount: '100', currency: 'usd' },
    };
    const life = new Life(moduleWith(kernel), plan);
    expect(intentsOf(life.arrive())[0]?.size).toEqual({ by: 'amount', amount: money('70') });
    const after = life.end(
      { leg: '0', slice: 0, filled: quantity('0.001'), filledAmount: money('69.5') },
      instant(NINE + 5 * MINUTE_MS),
    );
    expect(after.fault).toBe('it wants 70, and 30.5 of its total of 100 is left');
  });

  it('ends with its last open intent once it reports that it has finished', () => {
    const life = new Life(returning({ state: {}, finished: true, intents: [anIntent()] }), PLAN);
    const last = life.arrive();
    expect([intentsOf(last).length, last.finished]).toEqual([1, undefined]);
    expect(life.end({ leg: '0', slice: 0 }, instant(NINE + 2 * MINUTE_MS)).finished).toBe('finished');
  });

  it('waits at least one second if the awaited instant has passed: no step directly follows itself', () => {
    const step = new Life(returning({ state: {}, waits: [{ on: 'at', at: NINE - 1 }] }), PLAN).arrive();
    expect(step.waits).toEqual([{ on: 'at', at: NINE + MINUTE_MS + SECOND_MS }]);
  });

  it('may wait for a price or an inflow, but not before one second has passed', () => {
    const waits = [
      { on: 'price', pair: 'btcusd', is: 'at_or_below', level: price('60000') },
      { on: 'inflow', currency: 'usd', above: '100' },
    ];
    const life = new Life(returning({ state: {}, waits }), PLAN);
    const notBefore = NINE + MINUTE_MS + SECOND_MS;
    expect(life.arrive().waits).toEqual([
      { on: 'price', pair: 'btcusd', is: 'at_or_below', level: '60000', notBefore },
      { on: 'inflow', currency: 'usd', above: '100', notBefore },
    ]);
    expect(life.wake({ on: 'price', at: NINE, price: price('59999') }).fault).toBeUndefined();
    expect(life.wake({ on: 'inflow', at: NINE, balance: quantity('101') }).fault).toBeUndefined();
  });

  it('rounds a requested size down to the precision of the currency', () => {
    const step = new Life(asking(anIntent({ quantity: '0.123456789' })), PLAN).arrive();
    expect(intentsOf(step).map((one) => text(amountOf(one)))).toEqual(['0.12345678']);
  });

  it('receives copies of its params and state, so that changes to them in a step have no effect', () => {
    const seen: unknown[] = [];
    const kernel = {
      params: (raw: { list: number[] }) => raw,
      start: () => ({ state: { list: [1] }, waits: [{ on: 'at', at: NINE + MINUTE_MS }] }),
      step(state: { list: number[] }, _: Wake, params: { list: number[] }) {
        seen.push(structuredClone([state.list, params.list]));
        state.list.push(2);
        params.list.push(2);
        return { state: { list: [1] }, waits: [{ on: 'at', at: NINE + 5 * MINUTE_MS }] };
      },
    };
    const life = new Life(moduleWith(kernel), { ...PLAN, params: { list: [7] } });
    const before = structuredClone(life.last.state);
    life.arrive();
    life.arrive();
    expect(seen).toEqual([
      [[1], [7]],
      [[1], [7]],
    ]);
    expect(life.last.state).toEqual(before);
  });
});

describe('a faulty step of a module', () => {
  const faultOf = (kind: AnyStrategy, plan: object = PLAN): Step<unknown> => new Life(kind, plan).arrive();

  it.each<[string, AnyStrategy, RegExp]>([
    ['throws', returning(() => { throw new RangeError('bad luck\nand more'); }), /^RangeError: bad luck$/u],
    ['throws a value that is not an error', returning(() => { throw 7 as unknown as Error; }), /^it threw number$/u],
    ['returns undefined', returning(undefined), /^the step: .*expected object/u],
    ['returns a promise', returning(Promise.resolve({ state: {} })), /^it returned a promise: a kernel must be synchronous/u],
    ['returns an unknown field', returning({ state: {}, wait: [] }), /Unrecognized key: "wait"/u],
    ['has no waits and no open intents', returning({ state: {} }), /^it waits for nothing and has nothing open/u],
    ['omits its state', returning({ waits: [] }), /^the step\.state: .*undefined$/u],
    ['keeps a date in its state', returning({ state: { d: new Date(0) } }), /^state\.d is an object of a class/u],
    ['keeps a map in its state', returning({ state: { m: new Map() } }), /^state\.m is an object of a class/u],
    ['keeps an amount in its state', returning({ state: { a: [quantity('1')] } }), /^state\.a\[0\] is an amount: keep it as text/u],
    ['keeps NaN in its state', returning({ state: { n: Number.NaN } }), /^state\.n is NaN, which JSON cannot hold/u],
    ['keeps null in its state', returning({ state: { n: null } }), /^state\.n is null: .* omit missing fields/u],
    ['keeps a state that is too large', returning({ state: { n: 'x'.repeat(40_000) } }), /^the state has 40008 characters as JSON; at most 32768/u],
    ['wants an undeclared pair', asking(anIntent({ pair: 'ethusd' })), /^it wants to trade ethusd, and its pairs are btcusd, btceur$/u],
    ['wants the other side', asking(anIntent({ side: 'sell' })), /^it wants to sell, and its side is buy$/u],
    ['wants a negative quantity', asking(anIntent({ quantity: '-1' })), /quantity: expected an amount above zero/u],
    ['wants a quantity of zero', asking(anIntent({ quantity: '0.000' })), /quantity: expected an amount above zero/u],
    ['wants less than one unit', asking(anIntent({ quantity: '0.000000001' })), /is nothing in the precision of btcusd$/u],
    ['gives a number for an amount', asking(anIntent({ quantity: 0.1 })), /quantity: expected an amount above zero/u],
    ['sizes an intent in the wrong currency', asking(anIntent({ quantity: undefined, notional: '5' })), /^an intent gives its quantity, and nothing else, because total_quantity is declared$/u],
    ['sizes an intent in both currencies', asking(anIntent({ notional: '5' })), /^an intent gives its quantity, and nothing else/u],
    ['wants more than its total', asking(anIntent({ quantity: '0.6' }), anIntent({ quantity: '0.5' })), /^it wants 1\.1, and 1 of its total of 1 is left$/u],
    ['returns more intents than allowed per minute', asking(...Array.from({ length: 4 }, () => anIntent({ quantity: '0.1' }))), /^4 intents within a minute; max_intents_per_minute is 3$/u],
    ['gives a negative limit price', asking(anIntent({ limit: '-5' })), /limit: expected an amount above zero/u],
    ['tries for more than a day', asking(anIntent({ within: 'P3D' })), /^within is P3D: expected a second to a day$/u],
    ['gives an invalid duration', asking(anIntent({ within: 'tomorrow' })), /tomorrow/u],
    ['waits for an invalid instant', returning({ state: {}, waits: [{ on: 'at', at: 'noon' }] }), /waits\.0\.at: expected an instant/u],
    ['waits for an outcome explicitly', returning({ state: {}, waits: [{ on: 'outcome', leg: 'a', slice: 0 }] }), /waits\.0\.on: Invalid/u],
    ['waits for the price of an undeclared pair', returning({ state: {}, waits: [{ on: 'price', pair: 'ethusd', is: 'at_or_below', level: '1' }] }), /^it waits for a price of ethusd, which is not among its pairs$/u],
    ['waits for the drift of an undeclared pair', returning({ state: {}, waits: [{ on: 'drift', targets: { eth: '0.5', usd: '0.5' }, cash: 'usd', driftType: 'absolute', threshold: '0.1', notBefore: NINE }] }), /^it waits for a drift of eth, and ethusd is not among its pairs$/u],
  ])('has no effect if it %s', (_, kind, why) => {
    const step = faultOf(kind);
    expect(step.fault).toMatch(why);
    expect([step.intents, step.finished]).toEqual([undefined, undefined]);
  }); // prettier-ignore

  it('stops with a fault if it asks for the price of an undeclared pair', () => {
    const kernel = {
      ...counter,
      step: (_: unknown, __: unknown, ___: unknown, view: { price(pair: string): unknown }) =>
        view.price('ethusd'),
    };
    expect(faultOf(moduleWith(kernel)).fault).toBe('ethusd is not among the pairs of the document');
  });

  it('stops with a fault in the start function as in any other step', () => {
    const kernel = { ...counter, start: () => { throw new Error('not today'); } }; // prettier-ignore
    expect(new Life(moduleWith(kernel), PLAN).last.fault).toBe('Error: not today');
  });
});

describe('the check of a module', () => {
  const problems = (kernel: unknown, plan: object): readonly string[] => problemsOf(moduleWith(kernel), plan);

  it.each<[string, unknown, RegExp]>([
    ['no kernel', {}, /^it exports no kernel: write export const kernel = defineKernel/u],
    ['a kernel of the wrong type', { kernel: 7 }, /^it exports no kernel/u],
    ['an incomplete kernel', { kernel: { start: () => 1 } }, /^its kernel has no params, no step/u],
    ['a kernel whose start and step are not functions', { kernel: { params: anyParams, start: 1, step: 2 } }, /^start and step of its kernel must be a function$/u],
    ['params that are neither a schema nor a function', { default: { params: 7, start: () => 1, step: () => 1 } }, /^params of its kernel must be a schema of zod, or a function$/u],
  ])('refuses a module that exports %s', (_, exported, why) => {
    expect(codeIn(exported)).toEqual({ problem: expect.stringMatching(why) as string });
  }); // prettier-ignore

  it('accepts a kernel as the default export', () => {
    expect(codeIn({ default: counter })).toBeTypeOf('function');
  });

  it('reports wrong params with the path from a schema, or with the message of a function', () => {
    const strict = {
      ...counter,
      params: z.strictObject({ dip: z.string(), deep: z.strictObject({ n: z.int() }) }),
    };
    expect(problems(strict, { ...PLAN, params: { deep: { n: 'x' } } })).toEqual([
      expect.stringMatching(/^params\.dip: /u),
      expect.stringMatching(/^params\.deep\.n: /u),
    ]);
    const plain = { ...counter, params: () => { throw new Error('dip must be below 1'); } }; // prettier-ignore
    expect(problems(plain, PLAN)).toEqual(['params: Error: dip must be below 1']);
    expect(problems(counter, PLAN)).toEqual([]);
  });

  it('requires one total, in a currency that all pairs share', () => {
    expect(problems(counter, { ...PLAN, total_quantity: undefined })[0]).toMatch(/^module: give either total_quantity or total_notional/u);
    expect(problems(counter, { ...PLAN, total_notional: { amount: '1', currency: 'usd' } })[0]).toMatch(/^total_notional: give/u);
    expect(problems(counter, { ...PLAN, pairs: ['btcusd', 'ethusd'] })).toEqual([
      'total_quantity.currency: the total of ethusd must be in eth, not btc',
    ]);
    expect(problems(counter, { ...PLAN, pairs: ['btcusd', 'btcusd'] })).toEqual(['pairs.1: btcusd is listed twice: remove one']);
  }); // prettier-ignore
});

describe('an amount given to a module', () => {
  it('cannot be written to, so that no balance, price or shared zero changes', () => {
    const mid = add(price('30000.5'), price('0.25'));
    const held = subtract(quantity('1000.25'), quantity('0.125'));
    const given: object[] = [];
    const kind = moduleWith({
      params: anyParams,
      start: () => ({ state: {}, waits: [{ on: 'at', at: NINE + MINUTE_MS }] }),
      step(_state: unknown, _wake: Wake, _params: unknown, view: OwnView) {
        given.push(
          view.left,
          view.price('btcusd') ?? {},
          view.balance('usd') ?? {},
          view.balance('doge') ?? {},
        );
        return { state: {}, finished: true };
      },
    });
    const bound = kind.bind(PLAN);
    const view = {
      ...aView({}),
      holdings: new Map([['usd', held]]),
      reference: (pair: string) => ({ pair, mid, at: NINE, source: 'tape' as const }),
    };
    const { state } = bound.start(NINE, view);
    bound.step(state, { on: 'at', at: NINE, due: NINE }, { begunAt: NINE, view });
    expect(given).toHaveLength(4);
    for (const one of given) expect(() => Object.assign(one, { n: 777 })).toThrow(TypeError);
    expect([text(mid), text(held), text(quantity('0'))]).toEqual(['30000.75', '1000.125', '0']);
  });
});

describe('an amount that a module creates', () => {
  const q = sdk.quantity('0.25');
  const p = sdk.price('30000.5');
  const made = {
    price: p,
    quantity: q,
    money: sdk.money('30000.5'),
    ratio: sdk.ratio('0'),
    add: sdk.add(q, sdk.quantity('0')),
    subtract: sdk.subtract(q, q),
    scale: sdk.scale(q, sdk.ratio('1')),
    least: sdk.least(quantity('0.25'), quantity('0.5')),
    greatest: sdk.greatest(quantity('0.25'), quantity('0.125')),
    fraction: sdk.fraction(q, q),
    cost: sdk.cost(p, sdk.quantity('0')),
    quantityDown: sdk.quantityDown(sdk.money('0'), p, 8),
    roundDown: sdk.roundDown(quantity('0.25'), 8),
    roundUp: sdk.roundUp(quantity('0.25'), 8),
    share: sdk.share(sdk.quantity('0.5'), 2, 8),
    worsen: sdk.worsen('buy', price('30000.5'), sdk.ratio('0')),
  };

  it.each(Object.entries(made))(
    'is separate from the amounts of the desk if a helper created it: %s',
    (_, amount) => {
      expect(() => Object.assign(amount, { n: 7 })).toThrow(TypeError);
      const known = quantity(sdk.text(amount));
      expect(known).not.toBe(amount);
    },
  );

  it('has a type for its unit, so that a price cannot be added to a quantity', () => {
    // @ts-expect-error -- a price is no quantity
    expect(sdk.text(sdk.add(p, q))).toBe('30000.75');
  });

  it('is separate from the amounts of the desk even if no helper created it', () => {
    const theirs = quantity('0.1250').plus(quantity('0.0625')) as sdk.Quantity; // oxlint-disable-line typescript/no-unsafe-type-assertion -- as a module may
    const { intents } = new Life(asking(anIntent({ quantity: theirs })), PLAN).arrive();
    Object.assign(theirs, { n: 7 });
    expect(intents?.map((one) => text(amountOf(one)))).toEqual(['0.1875']);
    expect(text(add(quantity('0.1875'), quantity('0.1')))).toBe('0.2875');
  });
});
