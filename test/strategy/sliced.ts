import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { add, money, quantity, subtract, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { HOUR_MS, instant, isoOf } from '../../src/core/time.ts';
import type { AnyStrategy, Slot } from '../../src/strategy/kernel.ts';
import {
  amountOf,
  instrumentOf,
  intentsOf,
  Life,
  NINE,
  problemsOf,
  TACTICS_SENT,
  tacticsOf,
} from './views.ts';
import type { Scene } from './views.ts';

/** Buys 8 btc between nine and one, in a slice an hour. */
export const PLAN = {
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: '8', currency: 'btc' },
  start_time: '2026-12-01T09:00:00Z',
  duration: 'PT4H',
  slices: 4,
};

export interface SlicedExample {
  readonly kind: AnyStrategy;
  /** The kind's own fields, with which `PLAN` has slices of these sizes. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly sizes: readonly string[];
  /** Arbitrary values of the kind's own fields. */
  readonly anyOwn: fc.Arbitrary<Readonly<Record<string, unknown>>>;
}

export const slotsOf = (kind: AnyStrategy, document: object): readonly Slot[] =>
  kind.bind(document).slots(NINE, instrumentOf('btcusd'));

const anyJitter = fc.record({
  time_pct: fc.integer({ min: 1, max: 95 }),
  size_pct: fc.integer({ min: 1, max: 50 }),
  seed: fc.nat(),
});
const anyShape = fc.record({
  units: fc.bigInt({ min: 10n ** 6n, max: 10n ** 12n }),
  slices: fc.integer({ min: 1, max: 60 }),
  minutes: fc.integer({ min: 1, max: 3 * 1440 }),
  start: fc.integer({ min: 1_760_000_000, max: 1_860_000_000 }),
});

/** Wakes at the next slot, `lateMs` late, and fills `part` of its slice a second later. Returns the requested size. */
export function trade(life: Life, lateMs = 0, part = 1): Quantity {
  const at = instant(life.due + lateMs);
  const [intent] = intentsOf(life.arrive(lateMs));
  if (intent === undefined) return quantity('0');
  const filled = quantity(amountOf(intent).times(part).toFixed());
  life.end(
    { leg: 'all', slice: intent.slice, filled, filledAmount: money(text(filled)) },
    instant(at + 1_000),
  );
  return amountOf(intent);
}

/** Tests for every kind that divides a total into slices, whatever its curve. */
export function describeSliced(name: string, { kind, own, sizes, anyOwn }: SlicedExample): void {
  const document = (over: object = {}): object => ({ ...PLAN, ...own, ...over });
  const aLife = (over: object = {}, scene: Scene = {}): Life => new Life(kind, document(over), scene);
  const anyDocument = fc.tuple(anyShape, anyOwn).map(([{ units, slices, minutes, start }, fields]) => ({
    ...PLAN,
    ...fields,
    total_quantity: { amount: text(quantity(`${units}e-8`)), currency: 'btc' },
    start_time: new Date(start * 1000).toISOString(),
    duration: `PT${minutes}M`,
    slices,
  }));

  describe(`the schedule of a ${name}`, () => {
    it('has the sizes of its curve', () => {
      expect(slotsOf(kind, document()).map(({ size }) => size)).toEqual(sizes);
    });

    it('is traded as it is planned', () => {
      const over = { slices: 7, jitter: { time_pct: 80, size_pct: 30, seed: 11 } };
      const slots = slotsOf(kind, document(over));
      const life = aLife(over);
      const traded = slots.map(() => ({ at: life.due, size: text(trade(life)) }));
      expect(traded).toEqual(slots.map(({ at, size }) => ({ at, size })));
      expect(life.last.finished).toBe('finished');
    });
  });

  describe(`the kernel of a ${name}`, () => {
    it('requests one slice at its slot, due before the next, and waits for its outcome', () => {
      const life = aLife({ limit_price: '70000' });
      expect(life.due).toBe(NINE);
      expect(life.arrive()).toMatchObject({
        waits: [{ on: 'outcome', leg: 'all', slice: 0 }],
        intents: [
          {
            leg: 'all',
            slice: 0,
            pair: 'btcusd',
            side: 'buy',
            limit: quantity('70000'),
            deadline: NINE + HOUR_MS,
          },
        ],
      });
      life.end({ leg: 'all', slice: 0, filled: quantity(sizes[0] ?? '0') }, instant(NINE + 5_000));
      expect(life.last).toMatchObject({ waits: [{ on: 'at', at: NINE + HOUR_MS }] });
    });

    it('requests a notional in quote currency, and deducts the amount paid', () => {
      const notional = {
        total_quantity: undefined,
        total_notional: { amount: '8', currency: 'usd' },
        ...inUsd(own),
      };
      const life = aLife(notional);
      const [intent] = intentsOf(life.arrive());
      const first = Number(sizes[0]).toFixed(2);
      expect(intent?.size).toEqual({ by: 'amount', amount: money(first) });
      life.end({ leg: 'all', slice: 0, filled: quantity('99'), filledAmount: money(first) }, NINE);
      expect(life.last.state).toMatchObject({ left: text(subtract(quantity('8'), quantity(first))) });
    });

    it('sends its tactics with every intent', () => {
      expect(tacticsOf(aLife)).toEqual(TACTICS_SENT);
    });

    const LATE = 'a gap of 7200 s; 8 of 8 btc not traded';
    // The first two slices passed, and slots 0 and 1 were seen only when slot 2 had come.
    it.each([
      ['pace', { finished: undefined, note: '2 slots passed', missed: [0, 1], slice: 2, grows: true }],
      ['extend', { finished: undefined, note: '1 slot passed', missed: [0], slice: 1, grows: true }],
      ['skip', { finished: undefined, note: '2 slots passed', missed: [0, 1], slice: 2, grows: false }],
      ['abort', { finished: 'aborted', note: LATE, missed: [0, 1], slice: undefined, grows: false }],
    ])('resumes after an outage of two hours by catch_up: %s', (catch_up, expected) => {
      const step = aLife({ catch_up }).arrive(2 * HOUR_MS);
      const [intent] = intentsOf(step);
      const planned = quantity(sizes[intent?.slice ?? 0] ?? '0');
      const asked = intent === undefined ? planned : amountOf(intent);
      expect({
        finished: step.finished,
        note: step.note,
        missed: step.missed?.map(({ slice }) => slice),
        slice: intent?.slice,
        grows: asked.gt(planned),
      }).toEqual(expected);
      expect(asked.lte(planned.times('1.5'))).toBe(true);
    });

    it('requests nothing once the window is over, and reports the remainder', () => {
      for (const catch_up of ['pace', 'skip', 'extend']) {
        expect(aLife({ catch_up }).arrive(6 * HOUR_MS)).toMatchObject({
          finished: 'window_over',
          note: '8 of 8 btc not traded',
        });
      }
    });

    it('requests at most one slice per gap, each once and in order, within the total and its plan: half again at most', () => {
      const rule = fc.constantFrom('pace', 'extend', 'skip', 'abort');
      const late = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 4, noNaN: true })), {
        minLength: 20,
        maxLength: 20,
      });
      const parts = fc.array(fc.constantFrom(0, 0.25, 1, 1), { minLength: 20, maxLength: 20 });
      fc.assert(
        fc.property(rule, late, parts, anyOwn, (catch_up, delays, fills, fields) => {
          const over = { ...fields, slices: 12, catch_up };
          const planned = slotsOf(kind, document(over));
          const life = aLife(over);
          let now = 0;
          let done = quantity('0');
          const asked: number[] = [];
          // What was missed stays untraded, or ends the plan.
          const most = ['skip', 'abort'].includes(catch_up) ? '1' : '1.5';
          for (let n = 0; life.last.finished === undefined && n < 20; n++) {
            const at = Math.max(life.due, now) + Math.floor((delays[n] ?? 0) * 20 * 60_000);
            const intents = intentsOf(life.wake({ on: 'at', at: instant(at), due: life.due }));
            expect(intents.length).toBeLessThanOrEqual(1);
            now = at + 1_000;
            for (const intent of intents) {
              const size = amountOf(intent);
              asked.push(intent.slice);
              expect(size.lte(quantity(planned[intent.slice]?.size ?? '0').times(most))).toBe(true);
              const filled = quantity(size.times(fills[n] ?? 1).toFixed(8));
              done = add(done, filled);
              life.end({ leg: 'all', slice: intent.slice, filled }, instant(now));
            }
          }
          expect(asked).toEqual([...new Set(asked)].toSorted((a, b) => a - b));
          expect(done.lte('8')).toBe(true);
          expect(life.last.state).toMatchObject({ left: text(subtract(quantity('8'), done)) });
        }),
        { numRuns: 100 },
      );
    });
  });

  describe(`the traps of other systems, in a ${name}`, () => {
    it('trap 1: one failed slice does not erase the rest of the plan', () => {
      const life = aLife();
      life.arrive();
      life.end({ leg: 'all', slice: 0, result: 'skipped' }, instant(NINE + 1_000));
      const asked = [trade(life), trade(life), trade(life)];
      for (const [n, size] of asked.entries()) {
        const planned = quantity(sizes[n + 1] ?? '0');
        expect(size.gt(planned) && size.lte(planned.times('1.5'))).toBe(true);
      }
    });

    it('trap 2: a minimum in one currency is never compared with a size in the other', () => {
      expect(aLife({}, { minimum: { notional: money('1000000') } }).last.finished).toBeUndefined();
      expect(problemsOf(kind, document(), { notional: money('1000000') })).toEqual([]);
      const notional = {
        total_quantity: undefined,
        total_notional: { amount: '8', currency: 'usd' },
        ...inUsd(own),
      };
      expect(aLife(notional, { minimum: { quantity: quantity('1000000') } }).last.finished).toBeUndefined();
      expect(problemsOf(kind, document(notional), { quantity: quantity('1000000') })).toEqual([]);
      expect(problemsOf(kind, document(notional), { notional: money('3') })).toHaveLength(1);
    });

    it('trap 3: a slice below the minimum is refused, and the whole is never sent at once', () => {
      const least = sizes.map((size) => quantity(size)).reduce((a, b) => (b.lt(a) ? b : a));
      const minimum = { quantity: quantity(least.plus('0.01').toFixed()) };
      const life = aLife({}, { minimum });
      expect(life.last).toMatchObject({ finished: 'invalid_plan', waits: [] });
      expect(intentsOf(life.last)).toEqual([]);
      expect(life.last.note).toContain(`8 btc in 4 slices: the smallest is ${text(least)} btc`);
      expect(aLife({}, { minimum: { quantity: least } }).last.finished).toBeUndefined();
    });

    it('trap 4: fence posts: n slices, the first at the start, the last one interval before the end', () => {
      const slots = slotsOf(kind, document({ slices: undefined, interval: 'PT30M' }));
      expect(slots.map(({ at }) => (at - NINE) / HOUR_MS)).toEqual([0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5]);
    });

    it('complaint 15: a refusal near the minimum states the figures and a number of slices that is accepted', () => {
      let suggested = 0;
      fc.assert(
        fc.property(
          anyDocument,
          fc.option(anyJitter, { nil: undefined }),
          fc.integer({ min: 1, max: 1000 }),
          (plan, jitter, part) => {
            const minimum = {
              quantity: quantity(
                quantity(plan.total_quantity.amount)
                  .times(part / 5000)
                  .toFixed(8),
              ),
            };
            const [message] = problemsOf(kind, { ...plan, jitter }, minimum);
            if (message === undefined) return;
            const most = Number(/at most (?<count>\d+) slices/u.exec(message)?.groups?.['count']);
            expect(most < plan.slices && message.includes(text(minimum.quantity))).toBe(true);
            expect(problemsOf(kind, { ...plan, jitter, slices: most }, minimum)).toEqual([]);
            suggested++;
          },
        ),
        { numRuns: 100 },
      );
      expect(suggested).toBeGreaterThan(10);
    });

    it('complaint 19: an unknown key is refused at any level', () => {
      const { error } = kind.params.safeParse(document({ sice: 'buy' }));
      expect(error?.issues).toMatchObject([{ code: 'unrecognized_keys', keys: ['sice'] }]);
      for (const [field, value] of Object.entries(own)) {
        if (typeof value !== 'object') continue;
        const result = kind.params.safeParse(document({ [field]: { ...value, stale: 1 } }));
        expect(result.error?.issues).toMatchObject([{ path: [field], keys: ['stale'] }]);
      }
    });
  });
}

/** The page of a kind shows the slices of its example in this column as they are planned, and more of it. */
export function describePage(
  name: string,
  kind: AnyStrategy,
  { column, more = () => [] }: { column: number; more?: (example: object) => readonly string[] },
): void {
  it(`the documentation page of ${name} shows its example as it is planned`, () => {
    const page = readFileSync(new URL(`../../docs/strategies/${name}.md`, import.meta.url), 'utf8');
    const [, yaml = ''] = /```yaml\n([^]*?)```/u.exec(page) ?? [];
    const { id: _, kind: named, ...fields } = parse(yaml) as Record<string, unknown>;
    expect(named).toBe(name);
    const rows = slotsOf(kind, fields).map(({ at, size }) => `${isoOf(at).slice(11, 16)} ${size}`);
    const shown = page.split('\n').map((line) => line.split(/ *\| */u));
    const slices = shown.filter(([, at = '']) => /^\d\d:\d\d$/u.test(at));
    expect(slices.map((row) => `${row[1]} ${row[column]}`)).toEqual(rows);
    expect(rows.length).toBeGreaterThan(3);
    for (const words of more(fields)) expect(page.replaceAll(/ +/gu, ' ')).toContain(words);
  });
}

/** Own fields with their amounts in usd, for a total in usd. */
function inUsd(own: Readonly<Record<string, unknown>>): object {
  return JSON.parse(JSON.stringify(own).replaceAll('"btc"', '"usd"')) as object;
}
