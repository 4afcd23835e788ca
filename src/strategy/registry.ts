import type { AnyStrategy } from './kernel.ts';
import { limit } from './limit.ts';
import { module } from './module.ts';
import { rebalance } from './rebalance.ts';
import { recurring } from './recurring.ts';
import { settle } from './settle.ts';
import { shortfall } from './shortfall.ts';
import { sweep } from './sweep.ts';
import { twap } from './twap.ts';
import { vwap } from './vwap.ts';

/** Every kind of strategy: one line each. */
export const strategies: ReadonlyMap<string, AnyStrategy> = new Map(
  [twap, vwap, shortfall, rebalance, recurring, limit, sweep, settle, module].map((kind) => [
    kind.kind,
    kind,
  ]),
);
