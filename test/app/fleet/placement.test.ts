import { describe, expect, it } from 'vitest';
import { placement } from '../../../src/app/fleet/placement.ts';
import type { PlacedDaemon, PlacedDesk } from '../../../src/app/fleet/placement.ts';

const desk = (name: string, rest: Partial<PlacedDesk> = {}): PlacedDesk => ({
  desk: name,
  daemon: undefined,
  isLeased: false,
  epoch: 1,
  move: undefined,
  program: '0.1.0',
  ...rest,
});
const daemon = (name: string, rest: Partial<PlacedDaemon> = {}): PlacedDaemon => ({
  daemon: name,
  capacity: 200,
  isAlive: true,
  isDraining: false,
  program: '0.1.0',
  ...rest,
});
const held = (name: string, by: string, rest: Partial<PlacedDesk> = {}): PlacedDesk =>
  desk(name, { daemon: by, isLeased: true, ...rest });

describe('the placement of desks on daemons', () => {
  it('distributes free desks evenly, each to one daemon', () => {
    const desks = ['a', 'b', 'c', 'd'].map((name) => desk(name));
    const daemons = [daemon('one'), daemon('two')];
    expect(placement('one', desks, daemons).take).toEqual(['a', 'c']);
    expect(placement('two', desks, daemons).take).toEqual(['b', 'd']);
  });

  it('never takes a desk with a valid lease, even from an unresponsive daemon', () => {
    const daemons = [daemon('one', { isAlive: false }), daemon('two')];
    expect(placement('two', [held('a', 'one'), desk('b', { isLeased: true })], daemons).take).toEqual([]);
    expect(placement('two', [held('a', 'one', { isLeased: false })], daemons).take).toEqual(['a']);
  });

  it('leaves a restarting desk to its daemon while that daemon is alive', () => {
    const desks = [held('a', 'one', { isLeased: false })];
    expect(placement('two', desks, [daemon('one'), daemon('two')]).take).toEqual([]);
  });

  it('never gives a desk to an older version of tranche than the one that last ran it', () => {
    const desks = [desk('a', { program: '0.10.0' }), desk('b')];
    const [older, newer] = [daemon('older', { program: '0.9.1' }), daemon('z', { program: '0.10.0' })];
    expect(placement('older', desks, [older, newer]).take).toEqual(['b']);
    expect(placement('z', desks, [older, newer]).take).toEqual(['a']);
    expect(placement('older', desks, [older]).take).toEqual(['b']);
    const upgraded = ['a', 'b', 'c'].map((name) => held(name, 'z', { program: '0.10.0' }));
    expect(placement('z', upgraded, [older, newer]).release).toEqual([]);
    const moved = [held('a', 'z', { program: '0.10.0', move: { to: 'older', epoch: 1 } })];
    expect(placement('z', moved, [older, newer]).release).toEqual([]);
  });

  it('takes no more desks than the capacity of the daemon', () => {
    const desks = [desk('a'), desk('b'), held('c', 'one')];
    expect(placement('one', desks, [daemon('one', { capacity: 2 })]).take).toEqual(['a']);
  });

  it('releases all desks of a draining daemon and gives it none', () => {
    const daemons = [daemon('one', { isDraining: true }), daemon('two')];
    expect(placement('one', [held('a', 'one'), desk('b')], daemons)).toEqual({ take: [], release: ['a'] });
    expect(placement('two', [held('a', 'one'), desk('b')], daemons).take).toEqual(['b']);
  });

  it('releases one desk at a time to a daemon that has joined', () => {
    const desks = ['a', 'b', 'c', 'd'].map((name) => held(name, 'one'));
    const daemons = [daemon('one'), daemon('two')];
    expect(placement('one', desks, daemons)).toEqual({ take: [], release: ['d'] });
    const even = [held('a', 'one'), held('b', 'one'), held('c', 'two')];
    expect(placement('one', even, daemons).release).toEqual([]);
  });

  it('applies a move command only in the epoch for which it was given', () => {
    const daemons = [daemon('one'), daemon('two')];
    const now = held('a', 'one', { epoch: 3, move: { to: 'two', epoch: 3 } });
    const earlier = held('a', 'one', { epoch: 3, move: { to: 'two', epoch: 2 } });
    expect(placement('one', [now], daemons).release).toEqual(['a']);
    expect(placement('one', [earlier], daemons).release).toEqual([]);
  });

  it('gives a moved desk to its target daemon and does not move it back', () => {
    const daemons = [daemon('one'), daemon('two')];
    const others = [
      held('b', 'two', { move: { to: 'two', epoch: 1 } }),
      held('c', 'two', { move: { to: 'two', epoch: 1 } }),
    ];
    expect(placement('two', [desk('a', { move: { to: 'two', epoch: 3 } }), ...others], daemons).take).toEqual(
      ['a'],
    );
    expect(placement('two', others, daemons).release).toEqual([]);
  });

  it('does not move a desk to an unresponsive, draining or full daemon', () => {
    const desks = [held('a', 'one', { move: { to: 'two', epoch: 1 } })];
    for (const two of [{ isAlive: false }, { isDraining: true }, { capacity: 0 }])
      expect(placement('one', desks, [daemon('one'), daemon('two', two)]).release).toEqual([]);
  });
});
