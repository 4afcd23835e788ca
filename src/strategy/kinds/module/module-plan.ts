import { z } from 'zod';
import { add, greatest, NO_QUANTITY, quantity, subtract } from '../../../core/money.ts';
import type { Quantity } from '../../../core/money.ts';
import { amountOf, pairSymbol, whole } from '../../fields.ts';
import { totalOf } from '../../worker/total.ts';
import type { Total } from '../../worker/total.ts';

/** The fields of a document of kind `module`, and the state of its life. */

/** Error for a module that broke a rule of its contract. The message is for the author of the document. */
export class BrokenRule extends Error {
  override readonly name = 'BrokenRule';
}

const PAIRS_MAX = 20;

export const params = z.lazy(() =>
  z.strictObject({
    module: z
      .string()
      .regex(/^(?:\.\/)?[\w.-]+(?:\/[\w.-]+)*\.(?:ts|js)$/u, {
        error: 'expected a .ts or .js file in the folder of this file or below, such as ./my-kernel.ts',
      })
      .describe(
        'File with the code, relative to this file: a .ts or .js in its folder or below, at most 64 KiB',
      ),
    pairs: z
      .array(pairSymbol)
      .min(1)
      .max(PAIRS_MAX)
      .describe('Pairs that the module may trade and see prices of, such as [btcusd]'),
    side: z
      .enum(['buy', 'sell', 'both'], { error: 'expected buy, sell or both' })
      .default('both')
      .describe('Sides that the module may trade'),
    total_quantity: amountOf(
      'Largest total that the module may trade, buys and sells added up, in the base currency of all its pairs; give this or total_notional',
    ).optional(),
    total_notional: amountOf(
      'Largest total that the module may trade, buys and sells added up, in the quote currency of all its pairs; give this or total_quantity',
    ).optional(),
    max_intents_per_minute: whole
      .min(1)
      .max(60)
      .default(2)
      .describe('Maximum number of intents in any minute; a strategy that exceeds it is paused'),
    params: z.record(z.string(), z.unknown()).default({}).describe('Settings that the module reads'),
  }),
);
export type ModulePlan = z.output<typeof params>;

const asking = z.lazy(() =>
  z.strictObject({
    tag: z.string(),
    pair: z.string(),
    side: z.enum(['buy', 'sell']),
    /** In the unit of the total. */
    size: z.string(),
  }),
);
export const state = z.lazy(() =>
  z.strictObject({
    /** The kernel's own state, which no other code reads. */
    own: z.unknown(),
    /** Number of the next intent; it names the parent. */
    next: z.int().min(0),
    /** In the unit of the total. */
    traded: z.string(),
    /** Intents that have not ended, by number. */
    open: z.record(z.string(), asking),
    ended: z.record(z.string(), asking),
    /** When the intents of the last minute were decided, Unix ms. */
    recent: z.array(z.number()),
    /** Whether the kernel wants nothing more, so that the strategy ends with its last open intent. */
    isEnding: z.boolean(),
  }),
);
export type ModuleState = z.output<typeof state>;
export const FIRST: ModuleState = {
  own: {},
  next: 0,
  traded: '0',
  open: {},
  ended: {},
  recent: [],
  isEnding: false,
};

/** Returns the total that a plan declares, in the unit of its intents. */
export const declaredOf = (plan: ModulePlan): Total => totalOf(plan.total_quantity, plan.total_notional);

/** Returns the part of the total that is neither traded nor in open intents. */
export function leftOf(plan: ModulePlan, { traded, open }: ModuleState): Quantity {
  const used = Object.values(open).reduce((sum, { size }) => add(sum, quantity(size)), quantity(traded));
  return greatest(subtract(declaredOf(plan).amount, used), NO_QUANTITY);
}
