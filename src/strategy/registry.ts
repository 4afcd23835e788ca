import type { AnyStrategy } from './kernel.ts';
import { rebalance } from './rebalance.ts';
import { recurring } from './recurring.ts';
import { twap } from './twap.ts';

/** Every kind of strategy: one line each. */
export const strategies: ReadonlyMap<string, AnyStrategy> = new Map(
  [twap, rebalance, recurring].map((kind) => [kind.kind, kind]),
);
