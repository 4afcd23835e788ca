import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, after } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import { Watchman } from '../../../src/operate/watchman/watchman.ts';
import type { DeskStatus, Probe } from '../../../src/operate/watchman/probe.ts';
import { NINE } from '../notify/notices.ts';

const limits = {
  silentMs: MINUTE_MS,
  dataAgeMs: 5 * MINUTE_MS,
  stuckMs: 5 * MINUTE_MS,
  clockMs: 5 * SECOND_MS,
};
const EVERY_MS = 15 * SECOND_MS;

const status = (differs: Partial<DeskStatus> = {}): DeskStatus => ({
  desk: 'main',
  mode: 'live',
  state: 'active',
  dataAgeS: 10,
  recordAgeS: 10,
  nextAt: undefined,
  head: 100,
  ...differs,
});
const well = (at: Instant, differs: Partial<Probe> = {}): Probe => ({
  at,
  notReady: [],
  status: status(),
  ...differs,
});
const dead = (at: Instant): Probe => ({ at, dead: 'no answer (ECONNREFUSED)' });

/** Probes every 15 seconds and returns the notices, with the minutes since nine. */
function look(
  watchman: Watchman,
  fromMs: number,
  untilMs: number,
  probe: (at: Instant) => Probe,
): readonly string[] {
  const told: string[] = [];
  for (let ms = fromMs; ms < untilMs; ms += EVERY_MS) {
    const at = after(NINE, ms);
    for (const { title, severity } of watchman.take('desk-1', probe(at)))
      told.push(`${ms / MINUTE_MS} ${severity}: ${title}`);
  }
  return told;
}

describe('the watchman, for a desk that does not respond', () => {
  it('reports it after the configured time, again at growing intervals, and once when it responds again', () => {
    const watchman = new Watchman(limits);
    expect(look(watchman, 0, 10 * MINUTE_MS, well)).toEqual([]);
    expect(look(watchman, 10 * MINUTE_MS, 2 * HOUR_MS, dead)).toEqual([
      '11 critical: desk-1 does not respond',
      '26 critical: desk-1 does not respond, for 16 min so far',
      '56 critical: desk-1 does not respond, for 46 min so far',
      '116 critical: desk-1 does not respond, for 1 h 46 min so far',
    ]);
    expect(look(watchman, 2 * HOUR_MS, 3 * HOUR_MS, well)).toEqual(['120 critical: desk-1 responds again']);
  });

  it('reports it at least once a day', () => {
    const watchman = new Watchman(limits);
    const told = look(watchman, 0, 10 * DAY_MS, dead).map((line) => Number(line.split(' ')[0]) / 1_440);
    const last = told.slice(-4);
    expect(last.slice(1).map((day, i) => day - (last[i] ?? 0))).toEqual([1, 1, 1]);
  });

  it('does not report a silence shorter than the configured time', () => {
    const watchman = new Watchman(limits);
    expect(look(watchman, 0, HOUR_MS, (at) => ((at - NINE) % (2 * MINUTE_MS) < 45_000 ? dead(at) : well(at)))).toEqual([]); // prettier-ignore
  });
});

describe('the watchman after a restart', () => {
  it('does not repeat notices that were sent, and sends those that are still due', () => {
    const first = new Watchman(limits);
    expect(look(first, 0, 5 * MINUTE_MS, dead)).toHaveLength(1);
    const second = new Watchman(limits);
    second.restore(first.saved());
    expect(look(second, 5 * MINUTE_MS, 15 * MINUTE_MS, dead)).toEqual([]);
    const third = new Watchman(limits);
    third.restore(second.saved());
    expect(look(third, 15 * MINUTE_MS, 17 * MINUTE_MS, dead)).toHaveLength(1);
    const fourth = new Watchman(limits);
    fourth.restore(third.saved());
    expect(look(fourth, 17 * MINUTE_MS, 18 * MINUTE_MS, well)).toEqual([
      '17 critical: desk-1 responds again',
    ]);
  });

  it('does not restart the grace period of a condition', () => {
    const first = new Watchman(limits);
    expect(look(first, 0, 45 * SECOND_MS, dead)).toEqual([]);
    const second = new Watchman(limits);
    second.restore(first.saved());
    expect(look(second, 45 * SECOND_MS, 75 * SECOND_MS, dead)).toHaveLength(1);
  });

  it.each(['', '[', '{}', '[1,null,{"name":"a"}]', '[{"name":"a","head":1,"held":[["silent",{}],["x",1]]}]'])(
    'starts with an empty state if its stored state is damaged: %s',
    (text) => {
      const watchman = new Watchman(limits);
      watchman.restore(text);
      expect(look(watchman, 0, 2 * MINUTE_MS, dead)).toHaveLength(1);
    },
  );
});

describe('a condition of a desk that cannot be read any more', () => {
  it('stays open while the desk does not respond or refuses the token', () => {
    const watchman = new Watchman(limits);
    const old = (at: Instant): Probe => well(at, { status: status({ dataAgeS: 400 }), notReady: ['halted'] });
    expect(look(watchman, 0, 2 * MINUTE_MS, old)).toHaveLength(2);
    expect(look(watchman, 2 * MINUTE_MS, 4 * MINUTE_MS, dead)).toEqual([
      '3 critical: desk-1 does not respond',
    ]);
    const refused = (at: Instant): Probe => ({ at, notReady: undefined, status: { refused: 'status 401' } });
    expect(look(watchman, 4 * MINUTE_MS, 5 * MINUTE_MS, refused)).toEqual([
      '4 critical: desk-1 responds again',
    ]);
    expect(look(watchman, 5 * MINUTE_MS, 6 * MINUTE_MS, well)).toEqual([
      '5 warning: desk-1 can trade again',
      '5 warning: desk-1 reads its account again',
    ]);
  });
});

describe('the watchman, for a desk that responds', () => {
  const told = (probe: (at: Instant) => Probe): readonly string[] =>
    look(new Watchman(limits), 0, 2 * MINUTE_MS, probe);

  it('reports a desk that cannot trade for one minute', () => {
    expect(told((at) => well(at, { notReady: ['halted: ann @ https://x.example'] }))).toEqual(['1 warning: desk-1 cannot trade']); // prettier-ignore
  });

  it('reports old data and a refused token', () => {
    expect(told((at) => well(at, { status: status({ dataAgeS: 400 }) }))).toEqual(['0 warning: desk-1 has not read its account for 7 min']); // prettier-ignore
    expect(told((at) => well(at, { status: { refused: 'status 401 of /api/v1/status' } }))).toEqual(["1 warning: desk-1 refuses the watchman's requests"]); // prettier-ignore
  });

  it('reports a missing record if a strategy is due and the desk is active', () => {
    const still = (differs: Partial<DeskStatus>) => (at: Instant): Probe =>
      well(at, { status: status({ nextAt: after(NINE, -6 * MINUTE_MS), recordAgeS: 360, ...differs }) }); // prettier-ignore
    expect(told(still({}))).toEqual(['0 critical: desk-1 has written no record although a strategy is due']);
    expect(told(still({ state: 'halted' }))).toEqual([]);
    expect(told(still({ recordAgeS: 20 }))).toEqual([]);
    expect(told(still({ nextAt: after(NINE, HOUR_MS), recordAgeS: 3_600 }))).toEqual([]);
  });

  it('reports a journal with fewer records than before', () => {
    const watchman = new Watchman(limits);
    expect(look(watchman, 0, MINUTE_MS, well)).toEqual([]);
    expect(look(watchman, MINUTE_MS, 2 * MINUTE_MS, (at) => well(at, { status: status({ head: 40 }) }))).toEqual(['1 critical: desk-1 has a journal that ends with record 40; it had reached record 100']); // prettier-ignore
  });

  it('reports a wrong clock only if the difference exceeds the uncertainty of the measurement', () => {
    const ahead = (aheadMs: number) => (at: Instant): Probe => well(at, { clock: { aheadMs, marginMs: 700 } }); // prettier-ignore
    expect(told(ahead(5_600))).toEqual([]);
    expect(told(ahead(-9_000))).toEqual([
      "1 warning: desk-1 has a clock that is 9 s behind the watchman's clock",
    ]);
  });
});
