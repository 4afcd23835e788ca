import { isoOf, after, spanText } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Wait } from '../../core/wake.ts';
import type { Observer } from '../observer.ts';
import type { DeskSettings } from '../desk-settings.ts';
import type { Ports } from '../ports.ts';
import type { ClockBack } from './continuity.ts';
import type { EngineState, StrategyRun } from '../state/engine-state.ts';

/** The parts of a desk that this file uses. The types are declared here, because the desk imports this file. */
export interface ClockBackContext {
  readonly ports: Ports;
  readonly policy: DeskSettings;
  readonly observer: Observer;
  readonly state: EngineState;
  clockBack: ClockBack | undefined;
}

/** Number of strategies and slices that are listed individually. */
const LINES_MAX = 20;

/** The clock has just gone back by this amount. */
export function clockWentBack(desk: ClockBackContext, backMs: number): void {
  note(desk, after(desk.ports.clock.wall(), backMs));
}

/** At start: the clock may show an earlier time than the newest record of the journal. */
export function checkClock(desk: ClockBackContext): void {
  const { newestRecordAt } = desk.state;
  const now = desk.ports.clock.wall();
  if (newestRecordAt !== undefined && newestRecordAt - now > desk.policy.continuity.divergenceMs)
    note(desk, newestRecordAt);
}

function note(desk: ClockBackContext, until: Instant): void {
  const known = clockBackOf(desk);
  const at = desk.ports.clock.wall();
  const latest = known !== undefined && known.until > until ? known.until : until;
  const back = { until: latest, at, backMs: latest - at };
  desk.clockBack = back;
  desk.observer.alert('discontinuity', {
    back: spanText(back.backMs),
    until: isoOf(back.until),
    waiting: waitingLines(desk).join('; '),
  });
}

/** Facts about a clock that went back; `undefined` once it again shows the time that it had shown before. */
function clockBackOf({ clockBack, ports }: ClockBackContext): ClockBack | undefined {
  return clockBack !== undefined && clockBack.until > ports.clock.wall() ? clockBack : undefined;
}

/** How far the clock went back, and which waits are longer because of it. Empty if it did not go back. */
export function clockBackWords(desk: ClockBackContext): readonly string[] {
  const back = clockBackOf(desk);
  if (back === undefined) return [];
  const head = `the clock was set back by ${spanText(back.backMs)}, to ${isoOf(back.at)}: times until ${isoOf(back.until)} occur a second time`;
  return [head, ...waitingLines(desk)];
}

function waitingLines(desk: ClockBackContext): readonly string[] {
  const now = desk.ports.clock.wall();
  const line = (who: string, until: Instant): string =>
    `${who} waits until ${isoOf(until)} (${spanText(until - now)} left)`;
  const lines: string[] = [];
  for (const life of desk.state.lives.values()) {
    const until = life.finished === undefined ? nextTime(life) : undefined;
    if (until !== undefined && until > now) lines.push(line(life.strategy, until));
  }
  for (const { intent } of desk.state.slices.values()) {
    const until = desk.state.totals.parent(intent.parent)?.slices.lastGap(intent.slice);
    if (until !== undefined && until > now)
      lines.push(line(`slice ${intent.slice} of ${intent.parent}`, until));
  }
  return lines.length <= LINES_MAX
    ? lines
    : [...lines.slice(0, LINES_MAX), `${lines.length - LINES_MAX} more wait`];
}

/** The first time that a strategy waits for; `undefined` if it waits for an outcome, or for nothing. */
function nextTime({ waits }: StrategyRun): Instant | undefined {
  let first: Instant | undefined;
  for (const wait of waits) {
    const at = timeOf(wait);
    if (at === undefined) return undefined;
    if (first === undefined || at < first) first = at;
  }
  return first;
}

const timeOf = (wait: Wait): Instant | undefined =>
  wait.on === 'at' ? wait.at : wait.on === 'outcome' ? undefined : wait.notBefore;
