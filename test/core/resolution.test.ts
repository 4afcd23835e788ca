import { describe, expect, it } from 'vitest';
import { nextPhase } from '../../src/core/cycle/cycle.ts';
import { certain, inherited } from '../../src/core/cycle/proof.ts';
import { money, quantity } from '../../src/core/money.ts';
import { missingFault, resolutionFault } from '../../src/core/cycle/resolution.ts';
import type { Resolution, TradeFigures } from '../../src/core/cycle/resolution.ts';
import { monotonic } from '../../src/core/time.ts';
import { anIntent } from './builders.ts';

const OVER = 25_000;
const phase = inherited({ startedAt: monotonic(0), lifeMs: 15_000, bookingMarginMs: 10_000 });
const open = { intent: anIntent(), phase };
const figures = (over: Partial<TradeFigures> = {}): TradeFigures => ({
  orderId: '77',
  quantity: quantity('0.5'),
  amount: money('30000'),
  fees: money('0'),
  ...over,
});
const word = (over: Partial<Resolution> = {}): Resolution => ({
  clientOrderId: 'c-1',
  verdict: 'not_executed',
  by: 'ann',
  why: 'the venue confirmed it by mail',
  ...over,
});
const filled = (over: Partial<TradeFigures> = {}): Resolution =>
  word({ verdict: 'filled', figures: figures(over) });

describe('the resolution of a doubt by an operator', () => {
  it.each([
    ['that it was not executed', word()],
    ['that it traded, with all figures', filled()],
    ['that it traded, without figures', word({ verdict: 'filled' })],
    ['that a part of it traded', filled({ quantity: quantity('0.2'), amount: money('12000') })],
    ['that it traded at the worst price', filled({ amount: money('30300') })],
  ])('is accepted if it states %s', (_, resolution) => {
    expect(resolutionFault(resolution, open, monotonic(OVER))).toBeUndefined();
  });

  it.each<readonly [string, Resolution, RegExp]>([
    ['a name', word({ by: ' ' }), /who/u],
    ['a reason', word({ why: '\n' }), /reason/u],
    ['an order id', filled({ orderId: '' }), /order id/u],
    ['a quantity', filled({ quantity: quantity('0') }), /above zero/u],
    ['an amount', filled({ amount: money('-1') }), /above zero/u],
    ['plausible fees', filled({ fees: money('-1') }), /fees/u],
    ['a quantity of at most the order', filled({ quantity: quantity('0.50001') }), /was for 0\.5/u],
    ['a price no worse than the worst price', filled({ amount: money('30300.01') }), /worst/u],
    ['no figures if the order was not executed', word({ figures: figures() }), /no figures/u],
  ])('needs %s', (_, resolution, says) => {
    expect(resolutionFault(resolution, open, monotonic(OVER))).toMatch(says);
  });

  it('is rejected for an order that is not in doubt', () => {
    expect(resolutionFault(word(), undefined, monotonic(OVER))).toBe('c-1 is not in doubt');
  });

  it('cannot deny a trade that may still happen or be booked', () => {
    expect(resolutionFault(word(), open, monotonic(OVER - 1))).toMatch(/try again in 1 s/u);
    expect(resolutionFault(filled(), open, monotonic(0))).toBeUndefined();
  });

  it('need not wait for the second read of the proof', () => {
    const read = nextPhase(phase, { on: 'clean_read', startedAt: monotonic(OVER), gapMs: 10_000 });
    if (read.state !== 'doubt') throw new Error('one read ended it');
    expect(resolutionFault(word(), { ...open, phase: read }, monotonic(OVER + 1))).toBeUndefined();
  });

  it('cannot deny a trade that the account has shown', () => {
    const shown = { ...open, phase: certain(phase) };
    expect(resolutionFault(word(), shown, monotonic(OVER))).toMatch(/certainly traded/u);
    expect(resolutionFault(filled(), shown, monotonic(OVER))).toBeUndefined();
  });
});

describe('the resolution of a missing part by an operator', () => {
  it('closes it as not executed, with a name and a reason', () => {
    expect(missingFault(word())).toBeUndefined();
    expect(missingFault(word({ by: '' }))).toMatch(/who/u);
    expect(missingFault(word({ why: ' ' }))).toMatch(/reason/u);
  });

  it('cannot book it: only the account can', () => {
    expect(missingFault(filled())).toMatch(/only the account/u);
    expect(missingFault(word({ figures: figures() }))).toMatch(/no figures/u);
  });
});
