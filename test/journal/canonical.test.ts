import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import { canonicalValue } from '../../src/core/text/json.ts';
import { canonical } from '../../src/journal/format/canonical.ts';
import { problemWith, recordKinds } from '../../src/journal/format/record-schema.ts';
import { NINE, aFill, everyKind, someSettings, someRows } from './records.ts';

describe('the canonical text of a record', () => {
  it('puts the kind first and sorts all other keys at every depth', () => {
    const body = {
      why: 'ü\n\u{1F600}',
      10: { b: [1, { z: 1, a: -0 }], a: true },
      9: null,
      kind: 'x',
      gone: undefined,
    };
    expect(canonical(body)).toBe(
      `{"kind":"x","10":{"a":true,"b":[1,{"a":0,"z":1}]},"9":null,"why":"ü\\n\u{1F600}"}`,
    );
  });

  it('sorts keys by code units, not by locale', () => {
    expect(canonicalValue({ ä: 1, Z: 2, a: 3, '\u{1F600}': 4, '\uFB00': 5 })).toBe(
      '{"Z":2,"a":3,"ä":1,"\u{1F600}":4,"\uFB00":5}',
    );
  });

  it('parses back to the same value, for any plain JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown; // without -0
        const read = JSON.parse(canonicalValue(plain)) as unknown;
        expect(read).toEqual(plain);
        expect(canonicalValue(read)).toBe(canonicalValue(plain));
      }),
    );
  });

  it('escapes a lone surrogate, which a database would replace', () => {
    expect(canonicalValue('\uD800')).toBe(String.raw`"\ud800"`);
  });

  it.each([
    ['a bigint', 1n],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['infinity', Number.POSITIVE_INFINITY],
    ['undefined in a list', [undefined]],
    // oxlint-disable-next-line no-sparse-arrays -- what is tested
    ['a sparse list', [1, , 2]],
    ['a function', { f: () => 0 }],
    [
      'a raw number, which would be rounded when read back',
      (JSON as unknown as { rawJSON: (text: string) => object }).rawJSON('1.10'),
    ],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalValue(value)).toThrow('not plain JSON');
  });
});

describe('the shape of a record', () => {
  it('accepts a record of every kind', () => {
    const bodies: readonly RecordBody[] = [
      ...everyKind(),
      { kind: 'shown', fills: { 'tr-abcd-abcdefgh-0-0-abcd': someRows } },
      { kind: 'shown', fills: {}, others: [{ id: '12', currency: 'btc', amount: '0.5' }] },
      { kind: 'resolved', client_order_id: 'c', verdict: 'not_ours', rows: ['12', '13'], by: 'ann', why: 'w' },
      someSettings,
      { kind: 'process', state: 'failed', why: 'TypeError: x is not a function' },
      { ...aFill(), rows: someRows, other_fees: { btc: '0.0001' }, missing: { quantity: '0.1', amount: '6000', notional_usd: '6000' } },
      { kind: 'approval', request: 'ap-1', step: 'approved', for: 'rearm', asks: 'lift the halt', subject: 's', count: 1, hash: 'h', expires_at: NINE, by: 'ops', why: 'w', token: { name: 'ops', kind: 'person' } },
      { kind: 'person', person: 'ann', step: 'enrolled', role: 'approver', passkey: { id: 'k', public_key: 'p', counter: 0 }, by: 'ann', why: 'w', token: { name: 'ops', kind: 'person' } },
    ]; // prettier-ignore
    expect(new Set(bodies.map(({ kind }) => kind))).toEqual(new Set(recordKinds));
    expect(bodies.map(problemWith)).toEqual(bodies.map(() => undefined));
  });

  it('accepts only plain decimals as amounts', () => {
    const isAmount = (usd: string): boolean =>
      problemWith({ kind: 'maximum', pair: 'btcusd', usd }) === undefined;
    expect(['0', '-0', '12', '-1.5', '00.10', '9'.repeat(60)].filter(isAmount)).toHaveLength(6);
    expect(['1e5', '', '-', '.', '-.', '.5', '-.5', '1.', '-1.', '1.2.3', '1..2', '--1', '+1', ' 1', '1 ', '1\n', '１', '1,5', '1/2', '1:2', 'a'].filter(isAmount)).toEqual([]); // prettier-ignore
  });
});
