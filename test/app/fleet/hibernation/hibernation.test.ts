import { describe, expect, it } from 'vitest';
import { Hibernation, notIdle } from '../../../../src/app/fleet/hibernation/hibernation.ts';

const TEN_MINUTES = 600_000;
const idle = (s: number, hasCommand = false) => ({ idle: { until: '2026-01-05T09:00:00Z', s }, hasCommand });

describe('a daemon with --hibernate', () => {
  it('ends a desk that has been idle for ten seconds and stays idle for the given duration', () => {
    const hibernation = new Hibernation(TEN_MINUTES);
    const noted = notIdle();
    expect([0, 9_999, 10_000].map((now) => hibernation.isToEnd(idle(3_600), noted, now))).toEqual([false, false, true]);
  }); // prettier-ignore

  it('restarts the ten seconds after a command, activity or a shorter idle time', () => {
    const hibernation = new Hibernation(TEN_MINUTES);
    const noted = notIdle();
    hibernation.isToEnd(idle(3_600), noted, 0);
    expect(hibernation.isToEnd(idle(3_600, true), noted, 9_000)).toBe(false);
    expect(hibernation.isToEnd(idle(3_600), noted, 12_000)).toBe(false);
    expect(hibernation.isToEnd({ idle: undefined, hasCommand: false }, noted, 15_000)).toBe(false);
    expect(hibernation.isToEnd(idle(599), noted, 30_000)).toBe(false);
    expect(hibernation.isToEnd(idle(600), noted, 31_000)).toBe(false);
    expect(hibernation.isToEnd(idle(600), noted, 41_000)).toBe(true);
  });

  it('does not start a hibernating desk before its time has come or a command waits', () => {
    const hibernation = new Hibernation(TEN_MINUTES);
    expect(hibernation.isAsleep({ hibernatesS: 5, hasCommand: false })).toBe(true);
    expect(hibernation.isAsleep({ hibernatesS: 0, hasCommand: false })).toBe(false);
    expect(hibernation.isAsleep({ hibernatesS: 5, hasCommand: true })).toBe(false);
    expect(hibernation.isAsleep({ hibernatesS: undefined, hasCommand: false })).toBe(false);
  });

  it('starts at most four new desks at a time, and desks with records without this limit', () => {
    const hibernation = new Hibernation(TEN_MINUTES);
    const desk = (seq: number) => ({ head: { seq, hash: '' } });
    expect(hibernation.mayStart(desk(0), 3)).toBe(true);
    expect(hibernation.mayStart(desk(0), 4)).toBe(false);
    expect(hibernation.mayStart(desk(12), 50)).toBe(true);
  });
});

describe('a daemon without --hibernate', () => {
  it('runs every desk and wakes hibernating desks', () => {
    const hibernation = new Hibernation(undefined);
    const noted = notIdle();
    expect([0, 60_000].map((now) => hibernation.isToEnd(idle(36_000), noted, now))).toEqual([false, false]);
    expect(hibernation.isAsleep({ hibernatesS: 500, hasCommand: false })).toBe(false);
    expect(hibernation.mayStart({ head: { seq: 0, hash: '' } }, 50)).toBe(true);
  });
});
