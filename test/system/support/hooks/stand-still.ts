import { openSync, readSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Loaded before the program with `--import`: the clocks of the process are behind those of this machine by as much as a file says, which the test
 * changes while the process stands still. So it stood still with every clock, as a virtual machine does that was paused: nothing in it can
 * tell. `file` holds two numbers of eight bytes: milliseconds of the steady clock, and of the wall clock. Nothing of the program is changed.
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
