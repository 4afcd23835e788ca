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

/** Random numbers for waits; nothing depends on their quality. */
export const systemRandom: Random = { next: () => Math.random() };

/**
 * Reads the boot clock of Linux, which continues while the machine sleeps. Returns `undefined` on other systems: they derive the time since
 * their boot from the wall clock, which people can set. Source: proc(5), /proc/uptime and /proc/sys/kernel/random/boot_id.
 */
function bootTime(): BootTime | undefined {
  bootId ??= readBootId();
  return bootId === '' ? undefined : { id: bootId, ms: Math.floor(uptime() * 1_000) };
}

let bootId: string | undefined;

/** Returns the boot id, or '' if the system has none or reports the uptime of a container. */
function readBootId(): string {
  if (process.platform !== 'linux') return '';
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // Linux before 5.6 has no time namespaces.
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
/** Tolerance for rounding, because the kernel reports process starts and the uptime in hundredths of a second, and each may lag by one. */
const ROUNDING_MS = 30;

/**
 * Returns whether the uptime counts from the boot of the machine. Containers share the boot id of the machine, and some see an uptime of
 * their own: from lxcfs, which does not adjust the start time of this process, or from a time namespace. The difference between the uptimes
 * of two such containers would show time that never passed.
 */
export function isMachineUptime(seen: {
  /** Content of `/proc/self/stat`. */
  readonly stat: string;
  readonly timeNamespace: string;
  /** Age of this process, read before the uptime. */
  readonly ageMs: number;
  readonly uptimeMs: number;
}): boolean {
  // The name of the program may contain any character. The fields after it are numbers; the 22nd field is the start of the process.
  const fields = seen.stat.slice(seen.stat.lastIndexOf(')') + 2).split(' ');
  const startedMs = Number(fields[22 - 3] ?? Number.NaN) * 10;
  return seen.timeNamespace === FIRST_TIME_NAMESPACE && seen.uptimeMs >= startedMs + seen.ageMs - ROUNDING_MS;
}
