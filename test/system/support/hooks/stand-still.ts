import { openSync, readSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { fileURLToPath } from 'node:url';

/**
 * Loaded before the program with `--import`: the clocks of the process are behind those of this machine by as much as a file says, which the test
 * changes while the process stands still. So it stood still with every clock, as a virtual machine does that was paused: nothing in it can
 * tell. Timers that would end meanwhile wait once more. `file` holds two numbers of eight bytes: milliseconds of the steady clock, and of the
 * wall clock. Nothing of the program is changed.
 */
const path = new URL(import.meta.url).searchParams.get('file');
if (path === null) throw new RangeError(`no file in ${import.meta.url}`);
const file = openSync(fileURLToPath(path), 'r');
const bytes = new Float64Array(2);
const behind = (clock: 0 | 1): number => {
  readSync(file, bytes, 0, bytes.byteLength, 0);
  return bytes[clock] ?? 0;
};

const realNow = performance.now.bind(performance);
performance.now = (): number => realNow() - behind(0);

// The boot clock goes on while a machine sleeps, but not while its host has paused it.
const realUptime = os.uptime.bind(os);
os.uptime = (): number => realUptime() - behind(0) / 1_000;
syncBuiltinESMExports();

const RealDate = Date;
const wall = (): number => RealDate.now() - Math.round(behind(1));
class BehindDate extends RealDate {
  constructor(...parts: readonly unknown[]) {
    if (parts.length === 0) super(wall());
    else super(...(parts as [number]));
  }

  static override now(): number {
    return wall();
  }
}
globalThis.Date = BehindDate as DateConstructor;

type Callback = (...parts: unknown[]) => void;

const realTimeout = setTimeout;
const realInterval = setInterval;

/** Whether a timer of this machine ended too early: the process stood still since it was set, and its own time is not over. */
const endsEarly = (ms: number): (() => boolean) => {
  const stood = behind(0);
  const due = performance.now() + ms;
  return () => behind(0) > stood && performance.now() < due;
};
const steadyTimeout = (callback: Callback, ms = 0, ...parts: unknown[]): NodeJS.Timeout => {
  const isEarly = endsEarly(ms);
  const timer = realTimeout(() => {
    if (isEarly()) timer.refresh();
    else callback(...parts);
  }, ms);
  return timer;
};
const steadyInterval = (callback: Callback, ms = 0, ...parts: unknown[]): NodeJS.Timeout => {
  let isEarly = endsEarly(ms);
  return realInterval(() => {
    if (isEarly()) return;
    isEarly = endsEarly(ms);
    callback(...parts);
  }, ms);
};
/** What Node attaches to a function, such as the promise of a timeout, stays. */
const like = <T extends object>(real: T, own: object): T =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it gets all that `real` has
  Object.defineProperties(own, Object.getOwnPropertyDescriptors(real)) as T;
globalThis.setTimeout = like(realTimeout, steadyTimeout);
globalThis.setInterval = like(realInterval, steadyInterval);
