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

/** Looks every 15 seconds for so long; what was told, with the minutes since nine. */
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

describe('a desk that falls silent', () => {
  it('reports once after its time, again at a growing interval, and once when it is back', () => {
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

  it('reports at least once a day, however long it lasts', () => {
    const watchman = new Watchman(limits);
    const told = look(watchman, 0, 10 * DAY_MS, dead).map((line) => Number(line.split(' ')[0]) / 1_440);
    const last = told.slice(-4);
    expect(last.slice(1).map((day, i) => day - (last[i] ?? 0))).toEqual([1, 1, 1]);
  });

  it('for less than its time is nobody’s business', () => {
    const watchman = new Watchman(limits);
    expect(look(watchman, 0, HOUR_MS, (at) => ((at - NINE) % (2 * MINUTE_MS) < 45_000 ? dead(at) : well(at)))).toEqual([]); // prettier-ignore
  });
});

describe('a restart of the watchman', () => {
  it('repeats no notice already sent, and sends those that are still due', () => {
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

  it('in the grace of a condition does not begin it again', () => {
    const first = new Watchman(limits);
    expect(look(first, 0, 45 * SECOND_MS, dead)).toEqual([]);
    const second = new Watchman(limits);
    second.restore(first.saved());
    expect(look(second, 45 * SECOND_MS, 75 * SECOND_MS, dead)).toHaveLength(1);
  });

  it.each(['', '[', '{}', '[1,null,{"name":"a"}]', '[{"name":"a","head":1,"held":[["silent",{}],["x",1]]}]'])(
    'begins anew where its memory is damaged: %s',
    (text) => {
      const watchman = new Watchman(limits);
      watchman.restore(text);
      expect(look(watchman, 0, 2 * MINUTE_MS, dead)).toHaveLength(1);
    },
  );
});

describe('what nobody knows', () => {
  it('continues as it was: a desk that falls silent or refuses the token is not well for that', () => {
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

describe('a desk that answers', () => {
  const told = (probe: (at: Instant) => Probe): readonly string[] =>
    look(new Watchman(limits), 0, 2 * MINUTE_MS, probe);

  it('and cannot trade for a minute reports, with its reasons', () => {
    expect(told((at) => well(at, { notReady: ['halted: ann @ https://x.example'] }))).toEqual(['1 warning: desk-1 cannot trade']); // prettier-ignore
  });

  it('with old data, or a token that it refuses', () => {
    expect(told((at) => well(at, { status: status({ dataAgeS: 400 }) }))).toEqual(['0 warning: desk-1 has not read its account for 7 min']); // prettier-ignore
    expect(told((at) => well(at, { status: { refused: 'status 401 of /api/v1/status' } }))).toEqual(["1 warning: desk-1 refuses the watchman's requests"]); // prettier-ignore
  });

  it('stands still when a strategy is due and no record comes, while it is active', () => {
    const still = (differs: Partial<DeskStatus>) => (at: Instant): Probe =>
      well(at, { status: status({ nextAt: after(NINE, -6 * MINUTE_MS), recordAgeS: 360, ...differs }) }); // prettier-ignore
    expect(told(still({}))).toEqual(['0 critical: desk-1 has written no record although a strategy is due']);
    expect(told(still({ state: 'halted' }))).toEqual([]);
    expect(told(still({ recordAgeS: 20 }))).toEqual([]);
    expect(told(still({ nextAt: after(NINE, HOUR_MS), recordAgeS: 3_600 }))).toEqual([]);
  });

  it('with fewer records than before has another journal', () => {
    const watchman = new Watchman(limits);
    expect(look(watchman, 0, MINUTE_MS, well)).toEqual([]);
    expect(look(watchman, MINUTE_MS, 2 * MINUTE_MS, (at) => well(at, { status: status({ head: 40 }) }))).toEqual(['1 critical: desk-1 has a journal that ends with record 40; it had reached record 100']); // prettier-ignore
  });

  it('with another clock reports only where the difference is certain', () => {
    const ahead = (aheadMs: number) => (at: Instant): Probe => well(at, { clock: { aheadMs, marginMs: 700 } }); // prettier-ignore
    expect(told(ahead(5_600))).toEqual([]);
    expect(told(ahead(-9_000))).toEqual([
      "1 warning: desk-1 has a clock that is 9 s behind the watchman's clock",
    ]);
  });
});
