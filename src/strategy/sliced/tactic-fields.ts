import { z } from 'zod';
import { slippageReferences } from '../../core/risk/tactics.ts';
import type { Tactics } from '../../core/risk/tactics.ts';
import { parseDuration } from '../../core/time.ts';
import { amountOf, durationText, plainNumber, positiveText, whole } from '../fields.ts';
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
      'Largest distance by which a quote may be worse than slippage_reference, basis points; worse quotes are not executed',
    ),
  slippage_reference: z
    .enum(slippageReferences, { error: 'expected mid, decision or arrival' })
    .default('arrival')
    .describe(
      'mid: the current reference price. decision: the reference price when the slice was decided. arrival: the reference price when the first slice of the parent was decided',
    ),
  max_spread_bps: bps
    .optional()
    .describe(
      'Largest spread of a quote, basis points: twice its distance from the current reference price; wider quotes are not executed',
    ),
  patience: z
    .strictObject({
      requote: durationText
        .optional()
        .describe(
          'Minimum time after a quote that did not trade until the slice requests the next one, ISO 8601; default and lower bound: retry.requote of the config',
        ),
      max_quotes: whole
        .min(1)
        .max(1_000)
        .optional()
        .describe(
          'Number of consecutive quotes without a trade after which a slice requests no more quotes and expires at its end',
        ),
    })
    .optional()
    .describe(
      'How a slice spends its time while quotes are not acceptable; default: it requests quotes until its deadline',
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
      probes: z
        .union([z.literal(2), z.literal(3)], { error: 'expected 2 or 3' })
        .default(3)
        .describe(
          'Number of probed sizes. 2: a quarter of the slice and the whole slice. 3: a tenth, four tenths and the whole slice',
        ),
    })
    .optional()
    .describe(
      'Probes sizes while the desk is idle, learns how the cost grows with size, and trades slices in pieces that cost little more than the smallest probed size; default: slices trade whole',
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

type Jittered = Tactical &
  Partial<Laddered> & {
    readonly jitter?: { readonly time_pct: number; readonly seed: number } | undefined;
  };

/** Returns the tactics that the intents of a document carry; `undefined` when it has none. */
export function tacticsOf(plan: Jittered): Tactics | undefined {
  let known = read.get(plan);
  if (known === undefined) {
    known = { tactics: readTactics(plan) };
    read.set(plan, known);
  }
  return known.tactics;
}

/** Tactics by document. They do not change, and each slice carries them. */
const read = new WeakMap<Jittered, { readonly tactics: Tactics | undefined }>();

function readTactics(plan: Jittered): Tactics | undefined {
  const { max_slippage_bps: slippage, max_spread_bps: spread, patience, keep, jitter } = plan;
  const least = plan.min_trade_notional;
  const tactics: Tactics = {
    ...(slippage === undefined
      ? {}
      : { slippage_bps: plain(slippage), slippage_reference: plan.slippage_reference }),
    ...(spread === undefined ? {} : { spread_bps: plain(spread) }),
    ...(patience?.requote === undefined ? {} : { requote_ms: parseDuration(patience.requote) }),
    ...(patience?.max_quotes === undefined ? {} : { quotes_max: patience.max_quotes }),
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

/** Checks that involve several tactical fields. `sliceMs` is how long a slice may be tried. */
export function checkTactics(
  plan: Tactical & { readonly pair: string; readonly side: 'buy' | 'sell' },
  world: CheckWorld,
  sliceMs: number,
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
  const requote = plan.patience?.requote;
  if (requote !== undefined && parseDuration(requote) >= sliceMs) {
    problems.push({
      path: ['patience', 'requote'],
      message: `a slice lasts ${sliceMs / 1000} s: it would never request a second quote; write a shorter time, or max_quotes: 1`,
    });
  }
  return problems;
}
