import { z } from 'zod';
import type { Tactics } from '../../core/risk/tactics.ts';
import { amountOf, plainNumber, positiveText, whole } from '../fields.ts';
import type { CheckWorld, Problem } from '../kernel.ts';

/** Fields that control how the slices of a strategy are quoted, shared by several kinds. */

const bps = plainNumber.min(0).max(10_000);

// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const tacticFields = () => ({
  limit_price: positiveText
    .optional()
    .describe('Worst acceptable price, quote per base; worse quotes are not executed'),
  max_slippage_bps: bps
    .optional()
    .describe(
      'Largest distance by which a quote may be worse than the reference price at the decision of the first slice of the parent, basis points; worse quotes are not executed',
    ),
  max_spread_bps: bps
    .optional()
    .describe(
      'Largest spread of a quote, basis points: twice its distance from the current reference price; wider quotes are not executed',
    ),
  keep: amountOf(
    'Reserve of the currency paid, which stays in the account; at least sizing.keep of the config',
  ).optional(),
  min_trade_notional: amountOf('Smaller orders are not sent; in quote currency').optional(),
});
export type Tactical = z.output<z.ZodObject<ReturnType<typeof tacticFields>>>;

/** For kinds that know their slices in advance. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const ladderFields = () => ({
  size_ladder: z
    .strictObject({
      max_impact_bps: bps.describe(
        'Largest extra cost of a piece of a slice over the smallest probed size, basis points',
      ),
    })
    .optional()
    .describe(
      'Probes a tenth, four tenths and the whole of a slice while the desk is idle, learns how the cost grows with size, and trades slices in pieces that cost little more than the smallest probed size; default: slices trade whole',
    ),
});
export type Laddered = z.output<z.ZodObject<ReturnType<typeof ladderFields>>>;

interface JitterWords {
  readonly time: string;
  readonly size: string;
  readonly seed: string;
  readonly all: string;
}

/** Returns the jitter field of a schedule. The kind describes what each of its fields changes. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- inferred by zod
export const jitterField = ({ time, size, seed, all }: JitterWords) =>
  z
    .strictObject({
      time_pct: plainNumber.min(0).max(95).default(0).describe(time),
      size_pct: plainNumber.min(0).max(50).default(0).describe(size),
      seed: whole
        .min(0)
        .max(2 ** 31)
        .describe(seed),
    })
    .optional()
    .describe(all);

/** The fields of a document that its slices carry. */
export type TacticPlan = Tactical &
  Partial<Laddered> & {
    readonly jitter?: { readonly time_pct: number; readonly seed: number } | undefined;
  };

/** Returns the tactics that the intents of a document carry; `undefined` when it has none. */
export function tacticsOf(plan: TacticPlan): Tactics | undefined {
  const { max_slippage_bps: slippage, max_spread_bps: spread, keep, jitter } = plan;
  const least = plan.min_trade_notional;
  const tactics: Tactics = {
    ...(slippage === undefined ? {} : { slippage_bps: plain(slippage) }),
    ...(spread === undefined ? {} : { spread_bps: plain(spread) }),
    ...(plan.size_ladder === undefined ? {} : { impact_bps: plain(plan.size_ladder.max_impact_bps) }),
    ...(keep === undefined ? {} : { keep: keep.amount }),
    ...(least === undefined ? {} : { min_notional: least.amount }),
    ...(jitter === undefined || jitter.time_pct === 0
      ? {}
      : { jitter: { pct: jitter.time_pct, seed: jitter.seed } }),
  };
  return Object.keys(tactics).length === 0 ? undefined : tactics;
}

/** Formats a setting as text without an exponent. */
const plain = (count: number): string => count.toFixed(8).replace(/\.?0+$/u, '');

/** Checks that involve several tactical fields. */
export function checkTactics(
  plan: Tactical & { readonly pair: string; readonly side: 'buy' | 'sell' },
  world: CheckWorld,
): readonly Problem[] {
  const problems: Problem[] = [];
  const known = world.currencies(plan.pair);
  const unit = (field: 'keep' | 'min_trade_notional', expected: string | undefined, what: string): void => {
    const given = plan[field]?.currency;
    if (given === undefined || expected === undefined || given === expected) return;
    const message = `${field} of a ${plan.side} of ${plan.pair} must be in ${expected}, ${what}, not ${given}`;
    problems.push({ path: [field, 'currency'], message });
  };
  unit('keep', plan.side === 'buy' ? known?.quote : known?.base, 'the currency that it pays with');
  unit('min_trade_notional', known?.quote, 'the quote currency');
  return problems;
}
