import { describe, expect, it } from 'vitest';
import { inherited } from '../../src/core/cycle/proof.ts';
import { monotonic } from '../../src/core/time.ts';

describe('an attempt left open by a dead process', () => {
  const base = { startedAt: monotonic(5_000), lifeMs: 15_000, bookingMarginMs: 10_000 } as const;
  const boot = (ms: number, id = 'one') => ({ id, ms });
  const proof = { reads_left: 1, wait_ms: 8_000, proves: 'rejected', boot: boot(100_000) } as const;

  it('continues the proof of the dead process, less the time that passed on the boot clock', () => {
    const later = inherited({ ...base, boot: boot(103_000), known: { reason: 'order_canceled', proof } });
    expect(later).toMatchObject({
      reason: 'order_canceled',
      // 3 s have passed, but for the step of the clock.
      proof: { readsLeft: 1, notBefore: 5_000 + 8_000 - 2_990, proves: 'rejected' },
    });
    const muchLater = inherited({ ...base, boot: boot(990_000), known: { proof } });
    expect(muchLater.proof.notBefore).toBe(5_000);
  });

  it.each([
    ['the machine was restarted', boot(103_000, 'two')],
    ['the boot clock went back', boot(90_000)],
    ['the boot clock is unknown', undefined],
  ])('counts no time as passed if %s, and keeps the result of earlier reads', (_, now) => {
    const later = inherited({ ...base, boot: now, known: { proof } });
    expect(later.proof).toStrictEqual({ readsLeft: 1, notBefore: 13_000, proves: 'rejected' });
  });

  it('waits at most until twice its quote life after the quote request if its doubt was not recorded', () => {
    const asked = boot(100_000);
    const waits = (ms: number): number =>
      inherited({ ...base, boot: boot(ms), asked, clockSlackMs: 2_000 }).proof.notBefore - base.startedAt;
    // Just asked: it may have been received a moment before this process began.
    expect(waits(101_000)).toBe(15_000 + 10_000);
    expect(waits(100_000 + 25_010)).toBe(2 * 15_000 + 2_000 - 25_000 + 10_000);
    expect(waits(100_000 + 60_000)).toBe(10_000);
    expect(inherited({ ...base, asked }).proof.notBefore - base.startedAt).toBe(25_000);
  });

  it('is never proven absent once it is known to have traded', () => {
    const known = { reason: 'certainly_traded', proof: { ...proof, proves: 'nothing' } } as const;
    expect(inherited({ ...base, boot: boot(103_000), known, isTraded: true })).toMatchObject({
      reason: 'certainly_traded',
      proof: { proves: 'nothing' },
    });
  });

  it('needs two reads, no earlier than its quote can have expired and its trade been booked', () => {
    expect(inherited({ startedAt: monotonic(0), lifeMs: 15_000, bookingMarginMs: 10_000 })).toMatchObject({
      state: 'doubt',
      reason: 'outcome_unknown',
      halt: false,
      proof: { readsLeft: 2, notBefore: 25_000, proves: 'absent' },
    });
  });
});
