import { describe, expect, it } from 'vitest';
import { cost, price, quantity } from '../../src/core/money.ts';
import { after } from '../../src/core/time.ts';
import type { Quote } from '../../src/core/venue.ts';
import { approve } from '../../src/engine/attempt/gate.ts';
import type { Approved, Refused } from '../../src/engine/attempt/gate.ts';
import type { Permit } from '../../src/engine/rate-limit/rate-limiter.ts';
import { sizeNow } from '../../src/engine/stages/size.ts';
import { aBench, aTwap } from './harness.ts';
import type { Bench } from './harness.ts';

const LIFE_MS = 5_000;

/** A permit that tells whether somebody used it. */
function aPermit(): Permit & { readonly calls: readonly string[] } {
  const calls: string[] = [];
  return {
    calls,
    waitedMs: 0,
    queuedMs: 0,
    settle: () => calls.push('settle'),
    abandon: () => calls.push('abandon'),
    giveBack: () => calls.push('giveBack'),
  };
}

/** A desk whose first attempt has asked for its quote and still waits for it. */
function aBenchThatAsked(): Bench {
  const bench = aBench({
    strategies: [aTwap('twap', { slices: 1, duration: 'PT1H' })],
    quoteLatencyMs: 1_000,
  });
  bench.start();
  while (bench.desk.state.attempts.size === 0) bench.run(10);
  return bench;
}

interface Asked {
  /** Times the reference price. */
  readonly dearer?: number;
  /** Age of the quote, milliseconds. */
  readonly ageMs?: number;
  readonly breaks?: number;
}

/** What the gate says of a quote that comes now, and what it did with the permit. */
function decisionOn(
  { desk, clock }: Bench,
  { dearer = 1, ageMs = 0, breaks = desk.continuity.count }: Asked = {},
): { readonly decision: Approved | Refused; readonly calls: readonly string[] } {
  const [slice] = desk.state.slices.values();
  const [open] = desk.state.attempts.values();
  if (slice === undefined || open === undefined) throw new Error('no attempt is open');
  const item = sizeNow(desk, slice);
  if (item.stage === 'stopped') throw new Error(item.reason);
  const { intent } = open;
  const each = price(item.reference.mid.times(dearer).toFixed(2));
  const size = item.size.by === 'quantity' ? item.size.quantity : item.quantity;
  const quote: Quote = {
    quoteId: 'q-1',
    pair: intent.pair,
    side: intent.side,
    quantity: quantity(size.toFixed()),
    amount: cost(each, size),
    price: each,
    quotedAt: clock.wall(),
    expiresAt: after(clock.wall(), LIFE_MS),
    lifeMs: LIFE_MS,
  };
  const askedAt = after(clock.monotonic(), -ageMs);
  const quoteLife = {
    askedAt,
    receivedAt: askedAt,
    lower: after(askedAt, LIFE_MS),
    upper: after(askedAt, LIFE_MS),
  };
  const permit = aPermit();
  const decision = approve({ desk, item, intent, breaks }, { state: 'quoted', quote, quoteLife }, permit);
  return { decision, calls: permit.calls };
}

const reasonOf = (bench: Bench, asked: Asked): string | undefined => {
  const { decision } = decisionOn(bench, asked);
  return 'reason' in decision ? decision.reason : undefined;
};

describe('the decision whether an order may leave on a quote', () => {
  it('approves a quote at the reference price', () => {
    const { decision } = decisionOn(aBenchThatAsked());
    expect(decision).toMatchObject({ quote: { quoteId: 'q-1' } });
  });

  it.each<[string, Asked, string]>([
    ['is outside the collar', { dearer: 1.03 }, 'collar'],
    ['is three times as far from the reference price as the collar allows', { dearer: 1.5 }, 'collar'],
    ['leaves too little life for an order', { ageMs: LIFE_MS }, 'quote_too_short'],
    ['was requested before a clock discontinuity', { breaks: -1 }, 'discontinuity'],
  ])('refuses a quote that %s', (_, asked, reason) => {
    expect(reasonOf(aBenchThatAsked(), asked)).toBe(reason);
  });

  it('refuses a quote while the desk is halted', () => {
    const bench = aBenchThatAsked();
    bench.desk.journal.append([{ kind: 'control', state: 'halted', by: 'alice', why: 'a test' }]).subscribe();
    expect(reasonOf(bench, {})).toBe('halted');
  });

  it.each<[string, Asked]>([
    ['that it approves', {}],
    ['that it refuses', { dearer: 1.5 }],
  ])('has no side effects, however often it is repeated for a quote %s', (_, asked) => {
    const bench = aBenchThatAsked();
    const written = bench.records().length;
    const looks = [1, 2, 3].map(() => decisionOn(bench, asked));
    expect(
      new Set(looks.map(({ decision }) => ('reason' in decision ? decision.reason : 'approved'))).size,
    ).toBe(1);
    expect(looks.flatMap(({ calls }) => calls)).toEqual([]);
    expect(bench.desk.leaving.size).toBe(0);
    expect(bench.desk.shortQuotes.size).toBe(0);
    expect(bench.records()).toHaveLength(written);
  });
});
