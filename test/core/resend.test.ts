import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyOrder } from '../../src/core/cycle/answer.ts';
import { nextPhase, lastResendStart } from '../../src/core/cycle/cycle.ts';
import type { QuoteLife, Phase, Trust } from '../../src/core/cycle/cycle.ts';
import { money, quantity } from '../../src/core/money.ts';
import { after, monotonic } from '../../src/core/time.ts';
import type { OrderAnswer } from '../../src/core/venue.ts';
import { anOrder, anOrderRequest, aQuote } from './builders.ts';

const TRUST: Trust = { firstCanceled: false, refusals: false, bookingMarginMs: 10_000, resend: true };
const NEVER: Trust = { ...TRUST, resend: false };
/** All trust that a desk can have; none of it may apply to a further copy. */
const ALL: Trust = { ...TRUST, firstCanceled: true, refusals: true };
const quoteLife: QuoteLife = {
  askedAt: monotonic(0),
  receivedAt: monotonic(200),
  lower: monotonic(15_000),
  upper: monotonic(15_200),
};
const quote = aQuote();
const copy = (copies: number): Phase => ({ state: 'ordering', quote, quoteLife, copies });
const answered = (from: Phase, answer: OrderAnswer, trust: Trust, at = 1_000): Phase => {
  const meaning = classifyOrder(anOrderRequest(), quote, answer);
  return nextPhase(from, { on: 'order_answer', meaning, at: monotonic(at) }, trust);
};

const lost = (sent: boolean): OrderAnswer => ({ kind: 'lost', sent, why: 'connection reset' });
const error = (status: number): OrderAnswer => ({ kind: 'error', status, error: 'no' });
const order = (over: Parameters<typeof anOrder>[0]): OrderAnswer => ({
  kind: 'order',
  status: 200,
  order: anOrder(over),
});
const canceled = order({ status: 'Canceled', filled: quantity('0'), filledAmount: money('0') });

const FILL = { state: 'filled' };
/** May have traded: until two reads after the life of the quote and the booking margin. */
const DOUBT = {
  state: 'doubt',
  reason: 'outcome_unknown',
  halt: false,
  proof: { readsLeft: 2, notBefore: 25_200, proves: 'absent' },
};
const HALT = { ...DOUBT, halt: true };
const UNSENT = { state: 'ended', result: 'discarded', reason: 'never_sent' };
/** A refusal of the only copy: one read after the quote life, or after the booking margin if the quote is used up. */
const REFUSED = {
  state: 'doubt',
  reason: 'order_refused',
  proof: { readsLeft: 1, notBefore: 25_200, proves: 'rejected' },
};
const CANCELED = {
  state: 'doubt',
  reason: 'order_canceled',
  proof: { readsLeft: 1, notBefore: 11_000, proves: 'rejected' },
};

/** The table of reliability: what came back, what it means for the only copy, and what for a further one. */
const table: readonly (readonly [string, OrderAnswer, object, object])[] = [
  ['a failure before any byte was written', lost(false), UNSENT, DOUBT],
  ['a timeout, reset, broken pipe or abort', lost(true), DOUBT, DOUBT],
  ['a body that cannot be read', { kind: 'garbled', status: 200, why: 'half' }, DOUBT, DOUBT],
  ['302', error(302), DOUBT, DOUBT],
  ...[500, 502, 503, 504, 429, 408, 409, 425].map(
    (status) => [String(status), error(status), DOUBT, DOUBT] as const,
  ),
  ['401', error(401), HALT, HALT],
  ['403', error(403), HALT, HALT],
  ...[400, 404, 422].map((status) => [String(status), error(status), REFUSED, DOUBT] as const),
  ['Canceled', canceled, CANCELED, DOUBT],
  ['Done, as quoted', order({}), FILL, FILL],
  [
    'Done, with other figures',
    order({ filled: quantity('0.4') }),
    { ...FILL, differs: 'filled 0.4 of 0.5' },
    { ...FILL, differs: 'filled 0.4 of 0.5' },
  ],
  ['the ids of another order', order({ clientId: 'theirs' }), DOUBT, DOUBT],
  ['the id of another quote', order({ quoteId: 'theirs' }), DOUBT, DOUBT],
  ['an unknown status', order({ status: 'Pending' }), DOUBT, DOUBT],
  ['Canceled but partly filled', order({ status: 'Canceled' }), DOUBT, DOUBT],
  ['an order with an HTTP status of failure', { kind: 'order', status: 500, order: anOrder() }, DOUBT, DOUBT],
];

describe('the answer to an order', () => {
  it.each(table)('is classified for the only copy: %s', (_, answer, only) => {
    expect(answered(copy(1), answer, NEVER)).toMatchObject(only);
  });

  it.each(table)('is classified for the last copy: %s', (_, answer, _only, further) => {
    expect(answered(copy(3), answer, TRUST)).toMatchObject(further);
    expect(answered(copy(3), answer, ALL)).toMatchObject(further);
    expect(answered(copy(2), answer, { ...ALL, resend: false })).toMatchObject(further);
  });

  it.each(table)('leads to another copy only if it leaves the outcome open: %s', (_, answer) => {
    const isUnanswered =
      (answer.kind === 'lost' && answer.sent) ||
      answer.kind === 'garbled' ||
      (answer.kind === 'error' && (answer.status >= 500 || answer.status === 408));
    expect(answered(copy(1), answer, TRUST).state === 'resending').toBe(isUnanswered);
  });
});

describe('another copy of an order', () => {
  const silent = (from: Phase, at: number): Phase => answered(from, lost(true), TRUST, at);
  const resend = (from: Phase, at: number): Phase =>
    nextPhase(from, { on: 'resend', at: monotonic(at) }, TRUST);

  it('is sent 300 ms after the first missing answer and 600 ms after the second, and is at most the third', () => {
    const first = silent(copy(1), 1_000);
    expect(first).toMatchObject({ state: 'resending', copies: 1, notBefore: 1_300 });
    const second = resend(first, 1_300);
    expect(second).toMatchObject({ state: 'ordering', copies: 2, quote });
    const third = silent(second, 2_000);
    expect(third).toMatchObject({ state: 'resending', copies: 2, notBefore: 2_600 });
    expect(silent(resend(third, 2_600), 3_000)).toMatchObject({
      ...DOUBT,
      detail: 'connection reset (3 copies sent)',
    });
  });

  it('is not sent early', () => {
    const first = silent(copy(1), 1_000);
    expect(resend(first, 1_299)).toBe(first);
  });

  it('is sent only while the quote certainly lives for another 1.5 s', () => {
    const last = lastResendStart(quoteLife);
    expect(last).toBe(13_500);
    expect(silent(copy(1), 13_200).state).toBe('resending');
    expect(silent(copy(1), 13_201)).toMatchObject(DOUBT);
    const first = silent(copy(1), 13_200);
    expect(resend(first, 13_500).state).toBe('ordering');
    expect(resend(first, 13_501)).toMatchObject(DOUBT);
  });

  it('leaves a doubt that needs the whole proof if it is held back', () => {
    const held = nextPhase(silent(copy(1), 1_000), { on: 'hold', why: 'halted' }, TRUST);
    expect(held).toMatchObject({ ...DOUBT, detail: 'connection reset; halted' });
  });

  it('is never sent once the attempt is in doubt', () => {
    const doubt = silent(copy(3), 1_000);
    expect(resend(doubt, 1_300)).toBe(doubt);
  });

  it('is at most the third, whatever answers arrive at whatever time', () => {
    const answers = table.map(([, answer]) => answer);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...answers), fc.integer({ min: 0, max: 700 })), { maxLength: 30 }),
        (steps) => {
          let phase = copy(1);
          let at = monotonic(300);
          for (const [answer, waitMs] of steps) {
            at = after(at, waitMs);
            if (phase.state === 'resending') phase = resend(phase, at);
            else phase = answered(phase, answer, TRUST, at);
            const copies = phase.state === 'ordering' ? phase.copies : 1;
            expect(copies).toBeLessThanOrEqual(3);
            expect(copies === 1 || at <= lastResendStart(quoteLife)).toBe(true);
          }
        },
      ),
    );
  });
});
