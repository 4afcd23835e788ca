import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import { canonical } from '../../src/journal/format/canonical.ts';
import { problemWith, recordKinds, spelled } from '../../src/journal/format/record-schema.ts';
import { NINE, aFill, everyKind } from './records.ts';

/** The canonical text the long way; `undefined` when the body is no record. */
function textOf(body: RecordBody): string | undefined {
  try {
    return problemWith(body) === undefined ? canonical(body) : undefined;
  } catch {
    return undefined;
  }
}

const bodies = (): readonly RecordBody[] => [
  { kind: 'shown', fills: { 'tr-abcd-abcdefgh-0-0-abcd': [7, 8] } },
  { kind: 'process', state: 'failed', why: 'TypeError: x is not a function' },
  { ...aFill(), rows: [7, 8], missing: { quantity: '0.1', amount: '6000', notional_usd: '6000' } },
  ...everyKind(),
  {
    kind: 'override',
    override: 'o-1',
    step: 'proposed',
    limit: 'max_order_notional',
    value: '250000',
    pair: 'btcusd',
    side: 'buy',
    expires_at: NINE,
    by: 'ops',
    why: 'a block',
  },
];

type Objects = Record<string, unknown>;
const isObject = (value: unknown): value is Objects =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object itself and all objects in it. */
const objectsIn = (value: unknown): readonly Objects[] =>
  Array.isArray(value)
    ? value.flatMap(objectsIn)
    : isObject(value)
      ? [value, ...Object.values(value).flatMap(objectsIn)]
      : [];

/** Makes a value: one that is put in may be changed after that. */
const aValue: fc.Arbitrary<() => unknown> = fc.oneof(
  fc
    .constantFrom<unknown>(
      undefined, null, true, '', '0', '-1.5', '1e5', '1.', '-0', 'buy', 'filled', 'clipped_funds', 'ü"\\\n\uD800', 0, -0, -1, 1.5,
      2 ** 53, Number.NaN, Infinity, 10n,
    )
    .map((value) => () => value),
  fc.constantFrom(
    () => [], () => [undefined], () => ['a', 1], () => ({}), () => ({ on: 'at', at: 1 }), () => ({ on: 'at', at: 1, more: 1 }),
    () => ({ a: { b: [{}] } }), () => new Date(0), () => Object.create(null) as unknown, () => new Map(),
  ),
  fc.string({ unit: 'binary', maxLength: 5 }).map((value) => () => value),
  fc.integer().map((value) => () => value),
); // prettier-ignore

const aChange = fc.record({
  where: fc.nat({ max: 30 }),
  key: fc.oneof(fc.nat({ max: 25 }), fc.constantFrom('more', 'kind', 'reason', '10', '9', '__proto__', 'ü')),
  what: fc.oneof(
    { weight: 3, arbitrary: aValue.map((value) => ({ value })) },
    fc.constantFrom('drop', 'turn', 'list'),
  ),
});

type Change = typeof aChange extends fc.Arbitrary<infer T> ? T : never;

/** Changes one object of the body: a member gone, added or other, its members in another order, or the last of a list twice. */
function change(body: RecordBody, { where, key, what }: Change): void {
  const objects = objectsIn(body);
  const object = objects[where % objects.length] ?? {};
  const keys = Object.keys(object);
  const name = typeof key === 'string' ? key : (keys[key % Math.max(1, keys.length)] ?? 'x');
  if (what === 'drop') Reflect.deleteProperty(object, name);
  else if (what === 'turn') {
    const members = Object.entries(object).toReversed();
    for (const [each] of members) Reflect.deleteProperty(object, each);
    // One that cannot be set, such as the size of a map, is left as it is.
    for (const [each, value] of members) Reflect.set(object, each, value);
  } else if (what === 'list') {
    const list = Object.values(object).find(Array.isArray);
    list?.push(list.at(-1));
  } else
    Object.defineProperty(object, name, {
      value: what.value(),
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

describe('the short way to the text of a record', () => {
  it('knows every kind, and says what the long way says', () => {
    expect(new Set(bodies().map(({ kind }) => kind))).toEqual(new Set(recordKinds));
    for (const body of bodies()) expect([body.kind, spelled(body)]).toEqual([body.kind, textOf(body)]);
  });

  it('takes an amount for what its pattern says', () => {
    const texts = ['0', '-0', '12', '-1.5', '00.10', '1e5', '', '-', '.', '-.', '.5', '-.5', '1.', '-1.', '1.2.3', '1..2', '--1', '+1', ' 1', '1 ', '1\n', '１', '1,5', '1/2', '1:2', 'a', '9'.repeat(60)]; // prettier-ignore
    const known = texts.map((usd) => spelled({ kind: 'maximum', pair: 'btcusd', usd }) !== undefined);
    expect(known).toEqual(texts.map((usd) => problemWith({ kind: 'maximum', pair: 'btcusd', usd }) === undefined)); // prettier-ignore
    expect(known.filter(Boolean)).toHaveLength(6);
  });

  it('spells nothing that the long way would not, and nothing otherwise', () => {
    let [short, long, none] = [0, 0, 0];
    fc.assert(
      fc.property(
        fc.nat({ max: bodies().length - 1 }),
        fc.array(aChange, { maxLength: 4 }),
        (which, changes) => {
          const body = structuredClone(bodies()[which]);
          if (body === undefined) throw new Error('there are fewer');
          for (const one of changes) change(body, one);
          const text = textOf(body);
          const quick = spelled(body);
          if (quick === undefined) none++;
          else short++;
          if (text !== undefined) long++;
          // It may leave a record to the long way.
          expect(quick ?? text).toBe(text);
        },
      ),
      { numRuns: Number(process.env['SPELL_RUNS'] ?? 5_000) },
    );
    // Both come often, and what is a record is nearly always spelled the short way.
    expect(none).toBeGreaterThan(500);
    expect(short).toBeGreaterThan(0.9 * long);
  });
});
