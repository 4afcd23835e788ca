import { describe, expect, it } from 'vitest';
import type { PersonRecord } from '../../src/core/record.ts';
import type { CommandAnswer } from '../../src/engine/ports.ts';
import { aTwap, nextProcess, started } from './harness.ts';
import type { Bench } from './harness.ts';

const strategies = [aTwap('t')];

const ANN = { kind: 'person', person: 'ann', step: 'invited', role: 'approver', by: 'ops', why: 'new' };
const tell = (bench: Bench, record: Partial<PersonRecord>): CommandAnswer =>
  bench.tell({ do: 'person', record: { ...ANN, ...record } });

const key = (id: string, counter = 0): PersonRecord['passkey'] => ({
  id,
  public_key: `key of ${id}`,
  counter,
});
const people = (bench: Bench): readonly unknown[] =>
  [...bench.desk.state.people.all()].map(({ name, role, state, passkeys }) => [
    name,
    role,
    state,
    passkeys.map(({ id, counter }) => `${id} ${counter}`),
  ]);

describe('people', () => {
  it('can be invited, enrol a passkey, sign in and be removed, and the next process knows them', () => {
    const bench = started({ strategies });
    expect(tell(bench, {})).toEqual({ isDone: true, says: 'ann is invited as approver' });
    expect(tell(bench, { step: 'enrolled', passkey: key('k1') }).isDone).toBe(true);
    expect(tell(bench, { step: 'signed_in', passkey: { id: 'k1', counter: 7 } }).isDone).toBe(true);
    expect(tell(bench, { person: 'ben', role: 'viewer' }).isDone).toBe(true);
    expect(tell(bench, { person: 'cy' }).isDone).toBe(true);
    expect(tell(bench, { person: 'cy', step: 'enrolled', passkey: key('k2') }).isDone).toBe(true);
    expect(tell(bench, { person: 'cy', step: 'removed' })).toEqual({
      isDone: true,
      says: 'cy can no longer sign in',
    });
    const known = [
      ['ann', 'approver', 'active', ['k1 7']],
      ['ben', 'viewer', 'invited', []],
      ['cy', 'approver', 'removed', []],
    ];
    expect(people(bench)).toEqual(known);
    const next = nextProcess(bench, 1_000, { strategies });
    expect(people(next)).toEqual(known);
    expect(next.desk.state.people.ownerOf('k1')?.name).toBe('ann');
    expect(next.desk.state.people.ownerOf('k2')).toBeUndefined();
  });

  it.each<[string, readonly Partial<PersonRecord>[], RegExp]>([
    ['a name is invalid', [{ person: 'a b' }], /1 to 60 letters/u],
    ['no reason is given', [{ why: ' ' }], /reason/u],
    ['no operator is named', [{ by: '' }], /name the operator/u],
    ['somebody enrols without an invitation', [{ step: 'enrolled', passkey: key('k') }], /not invited/u],
    ['somebody enrols without a passkey', [{}, { step: 'enrolled' }], /passkey is missing/u],
    ['somebody enrols with another role', [{}, { step: 'enrolled', role: 'admin', passkey: key('k') }], /invited as approver/u],
    ['a passkey belongs to another person', [{}, { step: 'enrolled', passkey: key('k') }, { person: 'ben' }, { person: 'ben', step: 'enrolled', passkey: key('k') }], /enrolled already/u],
    ['an active person is invited with another role', [{}, { step: 'enrolled', passkey: key('k') }, { person: 'ANN', role: 'admin' }], /remove ann first/u],
    ['somebody unknown is removed', [{ step: 'removed' }], /no person ann/u],
    ['somebody is removed twice', [{}, { step: 'removed' }, { step: 'removed' }], /removed already/u],
    ['a removed person enrols', [{}, { step: 'removed' }, { step: 'enrolled', passkey: key('k') }], /not invited/u],
    ['a removed person signs in', [{}, { step: 'enrolled', passkey: key('k') }, { step: 'removed' }, { step: 'signed_in', passkey: { id: 'k', counter: 1 } }], /not one of ann/u],
  ])('are not changed when %s', (_why, steps, problem) => {
    const bench = started({ strategies });
    for (const step of steps.slice(0, -1)) expect(tell(bench, step).isDone).toBe(true);
    const before = bench.records().length;
    expect(tell(bench, steps.at(-1) ?? {})).toSatisfy(
      ({ isDone, says }: CommandAnswer) => !isDone && problem.test(says),
    );
    expect(bench.records()).toHaveLength(before);
  }); // prettier-ignore

  it('can enrol a second passkey when invited again with the same role', () => {
    const bench = started({ strategies });
    tell(bench, {});
    tell(bench, { step: 'enrolled', passkey: key('k1') });
    expect(tell(bench, {}).isDone).toBe(true);
    expect(tell(bench, { step: 'enrolled', passkey: key('k2') }).isDone).toBe(true);
    expect(people(bench)).toEqual([['ann', 'approver', 'active', ['k1 0', 'k2 0']]]);
  });

  it('are limited to 500, with ten passkeys each', () => {
    const bench = started({ strategies });
    for (let n = 0; n < 500; n += 1) expect(tell(bench, { person: `p${n}` }).isDone).toBe(true);
    expect(tell(bench, { person: 'one-more' })).toMatchObject({ isDone: false });
    for (let n = 0; n < 10; n += 1)
      expect(tell(bench, { person: 'p0', step: 'enrolled', passkey: key(`k${n}`) }).isDone).toBe(true);
    expect(tell(bench, { person: 'p0', step: 'enrolled', passkey: key('k10') }).isDone).toBe(false);
    for (let n = 0; n < 400; n += 1) tell(bench, { person: `p${n}`, step: 'removed' });
    expect(people(bench)).toHaveLength(300);
  });
});
