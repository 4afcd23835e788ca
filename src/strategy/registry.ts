import type { AnyStrategy } from './kernel.ts';
import { limit } from './kinds/limit.ts';
import { module } from './kinds/module/module.ts';
import { pov } from './kinds/pov.ts';
import { rebalance } from './kinds/rebalance/rebalance.ts';
import { recurring } from './kinds/recurring/recurring.ts';
import { settle } from './kinds/settle/settle.ts';
import { shortfall } from './kinds/shortfall.ts';
import { sweep } from './kinds/sweep.ts';
import { twap } from './kinds/twap.ts';
import { vwap } from './kinds/vwap.ts';

/** Every kind of strategy, in the order in which schemas list them. */
export const strategies: ReadonlyMap<string, AnyStrategy> = new Map(
  [twap, vwap, shortfall, pov, rebalance, recurring, limit, sweep, settle, module].map((kind) => [
    kind.kind,
    kind,
  ]),
);
