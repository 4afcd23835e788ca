import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import process from 'node:process';
import { asyncScheduler } from 'rxjs';
import { instant, monotonic } from '../../core/time.ts';
import type { BootTime } from '../../core/time.ts';
import type { Clock, Random } from '../../engine/ports.ts';

/** The clock of this machine. */
export const systemClock: Clock = {
  scheduler: asyncScheduler,
  wall: () => instant(Date.now()),
  monotonic: () => monotonic(performance.now()),
  boot: bootTime,
};

/** Randomness for waits: nothing depends on its quality. */
export const systemRandom: Random = { next: () => Math.random() };

/**
 * The boot clock of Linux, which continues while the machine sleeps. Other systems derive the time since their boot from the
 * wall clock, which people set: there it is `undefined`. Source: proc(5), /proc/uptime and /proc/sys/kernel/random/boot_id.
 */
function bootTime(): BootTime | undefined {
  bootId ??= readBootId();
  return bootId === '' ? undefined : { id: bootId, ms: Math.floor(uptime() * 1_000) };
}

let bootId: string | undefined;

/** Empty if the system has none, or reports the uptime of a container instead. */
function readBootId(): string {
  if (process.platform !== 'linux') return '';
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // Linux before 5.6 has none.
    const timeNamespace = existsSync(TIME_NAMESPACE) ? readlinkSync(TIME_NAMESPACE) : FIRST_TIME_NAMESPACE;
    const isMachine = isMachineUptime({
      stat,
      timeNamespace,
      ageMs: performance.now(),
      uptimeMs: uptime() * 1_000,
    });
    return isMachine ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() : '';
  } catch {
    return '';
  }
}

const TIME_NAMESPACE = '/proc/self/ns/time';
/** The time namespace that Linux boots with: PROC_TIME_INIT_INO in include/linux/proc_ns.h. */
const FIRST_TIME_NAMESPACE = 'time:[4026531834]';
/** The kernel reports starts, and the uptime, in hundredths of a second: both may lag by one. */
const ROUNDING_MS = 30;

/**
 * Whether the uptime counts from the boot of the machine. Containers share its boot id, and some are shown an uptime of their own:
 * by lxcfs, which leaves the start of this process as it was, or by a time namespace. Between two containers such uptimes would
 * show time that never passed.
 */
export function isMachineUptime(seen: {
  /** `/proc/self/stat`. */
  readonly stat: string;
  readonly timeNamespace: string;
  /** Of this process, asked before the uptime. */
  readonly ageMs: number;
  readonly uptimeMs: number;
}): boolean {
  // The name of the program may hold anything; the fields after it are numbers, the start of the process the 22nd.
  const fields = seen.stat.slice(seen.stat.lastIndexOf(')') + 2).split(' ');
  const startedMs = Number(fields[22 - 3] ?? Number.NaN) * 10;
  return seen.timeNamespace === FIRST_TIME_NAMESPACE && seen.uptimeMs >= startedMs + seen.ageMs - ROUNDING_MS;
}
