import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import process from 'node:process';
import { asyncScheduler } from 'rxjs';
import { instant, monotonic } from '../core/time.ts';
import type { BootTime } from '../core/time.ts';
import type { Clock, Random } from '../engine/ports.ts';

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
 * The boot clock of Linux, which goes on while the machine sleeps. Other systems tell the time since their boot by the wall clock,
 * which people set: there it is `undefined`. Source: proc(5), /proc/uptime and /proc/sys/kernel/random/boot_id.
 */
function bootTime(): BootTime | undefined {
  bootId ??= readBootId();
  return bootId === '' ? undefined : { id: bootId, ms: Math.floor(uptime() * 1_000) };
}

let bootId: string | undefined;

/** Empty where the system has none. */
function readBootId(): string {
  if (process.platform !== 'linux') return '';
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
