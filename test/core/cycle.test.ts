import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OrderMeaning, QuoteMeaning } from '../../src/core/cycle/answer.ts';
import { answerWaitMs, lastOrderStart, nextPhase } from '../../src/core/cycle/cycle.ts';
import type { CycleEvent, Phase } from '../../src/core/cycle/cycle.ts';
import { instant, monotonic } from '../../src/core/time.ts';
import { anOrder, aQuote } from './builders.ts';

const MARGIN_MS = 10_000;
const GAP_MS = 10_000;

/** Asked at 1000, received at 1200; the quote lives 15 s: alive until 16000, over after 16200. */
const answered = (meaning: QuoteMeaning): CycleEvent => ({
  on: 'quote_answer',
  meaning,
  askedAt: monotonic(1_000),
  at: monotonic(1_200),
});
const ordered = (meaning: OrderMeaning, at = 2_000): CycleEvent => ({
  on: 'order_answer',
  meaning,
  at: monotonic(at),
});
const stopped: CycleEvent = { on: 'stopped', reason: 'collar', detail: 'far', next: { do: 'stop' } };
const fill: CycleEvent = { on: 'fill', order: anOrder({ orderId: 'late' }), quote: aQuote() };
const read = (startedAt: number, gapMs = GAP_MS): CycleEvent => ({
  on: 'clean_read',
  startedAt: monotonic(startedAt),
  gapMs,
});

const lost = {
  means: 'doubt',
  detail: 'timeout',
  halt: false,
} as const satisfies OrderMeaning;
const canceled: OrderMeaning = {
  means: 'refused',
  reason: 'order_canceled',
  detail: 'Canceled',
};
const refused: OrderMeaning = {
  means: 'refused',
  reason: 'order_refused',
  detail: '400: no',
};
const done: OrderMeaning = { means: 'filled', order: anOrder(), differs: undefined };

const run = (events: readonly CycleEvent[], from: Phase = { state: 'quoting' }): Phase =>
  events.reduce((phase, event) => nextPhase(phase, event, MARGIN_MS), from);
const toOrder = [answered({ means: 'quote', quote: aQuote() }), { on: 'approved' }] as const;
const doubtAfter = (meaning: OrderMeaning, ...more: readonly CycleEvent[]): Phase =>
  run([...toOrder, ordered(meaning), ...more]);

describe('an attempt that requests a quote', () => {
  it('bounds the quote life by the times of the request and the answer on the local clock', () => {
    expect(run(toOrder.slice(0, 1))).toMatchObject({
      state: 'quoted',
      quoteLife: { askedAt: 1_000, receivedAt: 1_200, lower: 16_000, upper: 16_200 },
    });
  });

  it.each<readonly [QuoteMeaning, object]>([
    [
      { means: 'later', reason: 'rate_limited', detail: 'd', waitMs: 4_000 },
      { reason: 'rate_limited', next: { do: 'again', waitMs: 4_000 } },
    ],
    [
      { means: 'smaller', usdMax: '250', usdAsked: '250', detail: 'd' },
      { reason: 'too_large', next: { do: 'smaller', usdMax: '250' } },
    ],
    [
      { means: 'never', reason: 'unsupported_pair', detail: 'd' },
      { reason: 'unsupported_pair', next: { do: 'stop' } },
    ],
    [
      { means: 'halt', reason: 'unauthorised', detail: 'd' },
      { reason: 'unauthorised', next: { do: 'halt' } },
    ],
  ])('is discarded if the answer means %j', (meaning, expected) => {
    expect(run([answered(meaning)])).toMatchObject({ state: 'ended', result: 'discarded', ...expected });
  });

  it.each([0, 1])('can be stopped before its order leaves, after %i events', (n) => {
    expect(run([...toOrder.slice(0, n), stopped])).toMatchObject({ state: 'ended', reason: 'collar' });
  });
});

describe('an attempt whose order is in flight', () => {
  it('cannot be stopped, and is not ended by reads of the account', () => {
    const phase = run([...toOrder, stopped, read(99_000), read(999_000), { on: 'approved' }]);
    expect(phase).toMatchObject({ state: 'ordering' });
  });

  it('is filled by the answer Done', () => {
    expect(doubtAfter(done)).toMatchObject({ state: 'filled', order: { orderId: '77' } });
  });

  it('is discarded if certainly no byte was sent', () => {
    const notSent = doubtAfter({ means: 'not_sent', detail: 'connection refused' });
    expect(notSent).toMatchObject({ state: 'ended', result: 'discarded', reason: 'never_sent' });
  });

  it('is in doubt without an answer, until two reads after the quote life and the booking margin', () => {
    const proof = { readsLeft: 2, notBefore: 16_200 + MARGIN_MS, proves: 'absent' };
    expect(doubtAfter(lost)).toMatchObject({ state: 'doubt', reason: 'outcome_unknown', halt: false, proof });
  });

  it('is in doubt and halts the desk if the token was refused', () => {
    expect(doubtAfter({ ...lost, halt: true })).toMatchObject({ state: 'doubt', halt: true });
  });

  it.each([
    ['Canceled', canceled, 'order_canceled'],
    ['a refusal', refused, 'order_refused'],
  ])(
    'is in doubt after %s until one read after the quote life: another copy may trade',
    (_, meaning, reason) => {
      const proof = { readsLeft: 1, notBefore: 16_200 + MARGIN_MS, proves: 'rejected' };
      expect(doubtAfter(meaning)).toMatchObject({ state: 'doubt', reason, proof });
      // When the answer came makes no difference.
      expect(run([...toOrder, ordered(meaning, 20_000)])).toMatchObject({ proof });
    },
  );

  it('waits for the latest end that the stamps of its quote and the clock of the venue allow', () => {
    const { expiresAt } = aQuote();
    const quote = aQuote({ answeredAt: instant(expiresAt - 60_000) });
    const phase = run([answered({ means: 'quote', quote }), { on: 'approved' }, ordered(lost)]);
    expect(phase).toMatchObject({ proof: { notBefore: 1_200 + 60_000 + MARGIN_MS } });
  });
});

describe('a doubt', () => {
  it('ends as absent after two clean reads, the second at least a gap after the first', () => {
    expect(doubtAfter(lost, read(26_200))).toMatchObject({ state: 'doubt', proof: { readsLeft: 1 } });
    expect(doubtAfter(lost, read(26_200), read(36_200))).toMatchObject({
      state: 'ended',
      result: 'absent',
      reason: 'proven_absent',
      next: { do: 'again' },
    });
  });

  it.each<readonly [string, readonly CycleEvent[]]>([
    ['a read that started too early', [read(26_199), read(36_200)]],
    ['a second read too soon after the first', [read(26_200), read(36_199)]],
    ['the same read reported twice', [read(26_200), read(26_200)]],
    ['one read', [read(1_000_000)]],
    ['requests to stop', [stopped, stopped, stopped]],
    ['a late refusal by the venue', [ordered(canceled), ordered(refused), ordered(lost)]],
    ['a late quote', [answered({ means: 'quote', quote: aQuote() }), { on: 'approved' }]],
  ])('is not ended by %s', (_, events) => {
    expect(doubtAfter(lost, ...events).state).toBe('doubt');
  });

  it('ends as rejected after one clean read if the venue refused the order', () => {
    const ended = { state: 'ended', result: 'rejected', reason: 'order_canceled' };
    expect(doubtAfter(canceled, read(26_200))).toMatchObject(ended);
    expect(doubtAfter(canceled, read(26_199)).state).toBe('doubt');
  });

  it.each<readonly [string, readonly CycleEvent[]]>([
    ['at once', []],
    ['between the two reads', [read(26_200)]],
  ])('ends as filled by a fill %s: a late fill overrides a proof in progress', (_, before) => {
    const filled = { state: 'filled', order: { orderId: 'late' } };
    expect(doubtAfter(lost, ...before, fill)).toMatchObject(filled);
    expect(doubtAfter(lost, ...before, fill, read(100_000), read(200_000))).toMatchObject(filled);
  });

  const time = fc.integer({ min: 0, max: 100_000 });
  const event = fc.oneof<fc.Arbitrary<CycleEvent>[]>(
    fc.constantFrom(fill, stopped, { on: 'approved' } as const),
    fc.constantFrom(lost, canceled, refused, done).chain((meaning) => time.map((at) => ordered(meaning, at))),
    fc.constant(answered({ means: 'quote', quote: aQuote() })),
    time.map((at) => read(at)),
    time.map((at) => read(at)),
    time.map((at) => read(at)),
  );
  /** Whether the reads are a proof by the rule: one read in time, and without an answer another one a gap later. */
  const isProven = (meaning: OrderMeaning, events: readonly CycleEvent[]): boolean => {
    const starts = events.flatMap((one) => (one.on === 'clean_read' ? [one.startedAt] : []));
    const first = starts.findIndex((at) => at >= 26_200);
    if (first === -1) return false;
    const firstAt = starts[first] ?? Infinity;
    return meaning !== lost || starts.slice(first + 1).some((at) => at >= firstAt + GAP_MS);
  };

  it('is ended only by a fill or by the reads that prove it, in any order of events', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(lost, canceled, refused),
        fc.array(event, { maxLength: 40 }),
        (meaning, events) => {
          const end = doubtAfter(meaning, ...events);
          const fillAt = events.findIndex((one) => one.on === 'fill');
          const wasProven = isProven(meaning, fillAt === -1 ? events : events.slice(0, fillAt));
          const expected = wasProven ? 'ended' : fillAt === -1 ? 'doubt' : 'filled';
          expect(end.state).toBe(expected);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('an attempt that has ended', () => {
  it.each<readonly [string, Phase]>([
    ['filled', doubtAfter(done)],
    ['discarded', run([stopped])],
    ['absent', doubtAfter(lost, read(26_200), read(36_200))],
  ])('stays %s whatever event arrives', (_, over) => {
    const all = [...toOrder, stopped, ordered(lost), ordered(done), read(1_000_000), fill];
    expect(run(all, over)).toBe(over);
  });
});

describe('the phases of an attempt', () => {
  it('reach an order only through approval, and never lead back from an order', () => {
    const all: readonly CycleEvent[] = [
      ...toOrder,
      stopped,
      fill,
      read(50_000),
      ordered(lost),
      ordered(done),
      ordered(canceled),
      answered({ means: 'later', reason: 'venue_failed', detail: '' }),
    ];
    const rank = { quoting: 0, quoted: 1, ordering: 2, doubt: 3, filled: 4, ended: 4 };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...all), { maxLength: 12 }), (events) => {
        let phase: Phase = { state: 'quoting' };
        for (const each of events) {
          const next = nextPhase(phase, each);
          expect(rank[next.state]).toBeGreaterThanOrEqual(rank[phase.state]);
          expect(next.state !== 'ordering' || phase.state === 'ordering' || each.on === 'approved').toBe(
            true,
          );
          expect(next.state !== 'filled' || ['ordering', 'doubt', 'filled'].includes(phase.state)).toBe(true);
          phase = next;
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('an order', () => {
  const quoteLife = {
    askedAt: monotonic(1_000),
    receivedAt: monotonic(1_200),
    lower: monotonic(16_000),
    upper: monotonic(16_200),
  };

  it('may start only while its quote certainly lives for the margin', () => {
    expect(lastOrderStart(quoteLife, 500)).toBe(15_500);
  });

  it.each([
    ['until its timeout, even beyond the end of its quote', 15_000, 8_000, 8_000],
    ['until the account can prove the outcome', 15_000, 60_000, 11_200],
    ['for no time if the account can already prove the outcome', 40_000, 8_000, 0],
  ])('waits for its answer %s', (_, sentAt, orderTimeoutMs, waitMs) => {
    const given = { sentAt: monotonic(sentAt), orderTimeoutMs, bookingMarginMs: 10_000 };
    expect(answerWaitMs(quoteLife, given)).toBe(waitMs);
  });
});
