import type { AnyStrategy } from './kernel.ts';
import { rebalance } from './rebalance.ts';
import { twap } from './twap.ts';

/** Every kind of strategy: one line each. */
export const strategies: ReadonlyMap<string, AnyStrategy> = new Map(
  [twap, rebalance].map((kind) => [kind.kind, kind]),
);
