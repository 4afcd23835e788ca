import { money, ratio } from '../src/core/money.ts';
import type { StrategySource } from '../src/engine/desk.ts';
import type { DeskSettings } from '../src/engine/desk-settings.ts';
import { strategies } from '../src/strategy/registry.ts';

/** Returns the settings of a desk whose limits never restrict a benchmark; all other settings are the defaults of `tranche run`. */
export const benchPolicy = (over: Partial<DeskSettings> = {}): DeskSettings => ({
  desk: 'bench',
  mode: 'paper',
  version: 'bench',
  configHash: 'bench',
  account: 'bench',
  limits: {
    currency: 'usd',
    orderNotionalMax: money('1000000'),
    dayNotionalMax: money('10000000000'),
    orderQuantityMax: new Map(),
    collarBps: ratio('500'),
    driftBpsMax: undefined,
    openDoubtsMax: 2,
    pairs: undefined,
    sides: new Set(['buy', 'sell']),
  },
  isSellingOn: true,
  minimumOf: () => ({ notional: money('5') }),
  pts: {
    use: 'never',
    maxAgeMs: 300_000,
    pollMs: 60_000,
    creditMax: undefined,
    carryBpsMax: undefined,
    holdingMs: 86_400_000,
  },
  reference: {
    intervalMs: 5_000,
    maxAgeMs: 30_000,
    probe: { amount: money('50'), currency: 'usd' },
    waitMs: 5_000,
  },
  retry: { baseMs: 500, capMs: 30_000, budgetMs: 600_000, requoteMs: 1_000 },
  inDoubt: {
    bookingMarginMs: 10_000,
    pollMs: 10_000,
    lifeMaxMs: 300_000,
  },
  orderTimeoutMs: 8_000,
  orderMarginMs: 500,
  historyMs: 30 * 86_400_000,
  accountPollMs: 60_000,
  pace: {
    windows: {
      quote: { max: 10, perMs: 1_000 },
      order: { max: 60, perMs: 1_000 },
      transactions: { max: 1, perMs: 10_000 },
      read: undefined,
      all: { max: 250, perMs: 10_000 },
    },
    guardMs: 5,
  },
  skew: { warnMs: 2_000, refuseMs: 30_000 },
  continuity: { everyMs: 1_000, divergenceMs: 2_000, lateMs: 4_000 },
  crashLoop: { startsMax: 5, withinMs: 600_000 },
  onDifference: 'halt',
  adoptFills: false,
  ...over,
});

/** Returns a twap from the fields of its YAML. */
export function benchTwap(id: string, params: Readonly<Record<string, unknown>>): StrategySource {
  const kind = strategies.get('twap');
  if (kind === undefined) throw new Error('the registry has no twap');
  const document = { id, kind: 'twap', ...params };
  return { id, kind: 'twap', hash: JSON.stringify(document), document, bound: kind.bind(params) };
}
