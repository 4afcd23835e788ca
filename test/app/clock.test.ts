import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isMachineUptime, systemClock } from '../../src/app/daemon/clock.ts';

const FIRST = 'time:[4026531834]';
/** A process that started 10,300.33 s after the boot of the machine. */
const stat = `4711 (a) name) S 1 ${'0 '.repeat(17)}1030033 0 0`;
const seen = { stat, timeNamespace: FIRST, ageMs: 160, uptimeMs: 10_300_490 };

describe('the boot clock', () => {
  it('is used if the uptime fits the start of the process, including after a suspend', () => {
    expect(isMachineUptime(seen)).toBe(true);
    expect(isMachineUptime({ ...seen, uptimeMs: seen.uptimeMs + 3_600_000 })).toBe(true);
  });

  it('is not used if the uptime is that of a container, or if that cannot be checked', () => {
    expect(isMachineUptime({ ...seen, uptimeMs: 5_000 })).toBe(false);
    expect(isMachineUptime({ ...seen, uptimeMs: seen.uptimeMs - 1_000 })).toBe(false);
    expect(isMachineUptime({ ...seen, timeNamespace: 'time:[4026532281]' })).toBe(false);
    expect(isMachineUptime({ ...seen, stat: 'unreadable' })).toBe(false);
  });

  it.runIf(systemClock.boot?.() !== undefined)('advances with the monotonic clock', async () => {
    const [from, began] = [systemClock.boot?.(), systemClock.monotonic()];
    await wait(50);
    const [to, ended] = [systemClock.boot?.(), systemClock.monotonic()];
    expect(to?.id).toBe(from?.id);
    expect(Math.abs((to?.ms ?? 0) - (from?.ms ?? 0) - (ended - began))).toBeLessThan(1_000);
  });
});
