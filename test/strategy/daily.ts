import { money, quantity } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { HOUR_MS, instant, isoOf } from '../../src/core/time.ts';
import { recurring } from '../../src/strategy/kinds/recurring/recurring.ts';
import { amountOf, intentsOf, Life, NINE } from './views.ts';
import type { Scene } from './views.ts';

/** Buys 2 btc every day at ten o'clock UTC, in one piece; begun at nine on Tuesday, the first of December 2026. */
export const DAILY = { cron: '0 10 * * *' };
export const PLAN = {
  pair: 'btcusd',
  side: 'buy',
  each_quantity: { amount: '2', currency: 'btc' },
  schedule: DAILY,
};
export const TEN = instant(NINE + HOUR_MS);
export const leg = (at: number): string => isoOf(instant(at));
export const aLife = (over: object = {}, scene: Scene = {}): Life =>
  new Life(recurring, { ...PLAN, ...over }, scene);
export const scheduled = (over: object): { schedule: object } => ({ schedule: { ...DAILY, ...over } });

/** What a life asks for when its time comes `lateMs` late; every slice fills whole, a second later. */
export function trade(
  life: Life,
  lateMs = 0,
  part = 1,
): readonly { leg: string; slice: number; size: Quantity }[] {
  const at = instant(life.due + lateMs);
  return intentsOf(life.arrive(lateMs)).map(({ leg: of, slice, ...intent }) => {
    const size = amountOf({ leg: of, slice, ...intent });
    const filled = quantity(size.times(part).toFixed(8));
    const outcome = { leg: of, slice, filled, filledAmount: money(filled.toFixed()) };
    life.end(outcome, instant(at + 1_000));
    return { leg: of, slice, size };
  });
}
