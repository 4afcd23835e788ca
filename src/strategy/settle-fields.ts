import { z } from 'zod';
import { money, ratioOf, text } from '../core/money.ts';
import type { SettleRule } from '../core/settling.ts';
import { parseDuration, SECOND_MS } from '../core/time.ts';
import type { Wait } from '../core/wake.ts';
import { atMostOnce } from './checks.ts';
import { amountOf, durationText, pairSymbol, plainNumber } from './fields.ts';
import type { CheckWorld, Problem } from './kernel.ts';

const PAIRS_MAX = 50;

/** The fields of a settle document. */
export const params = z.lazy(() =>
  z.strictObject({
    pairs: z
      .array(pairSymbol)
      .min(1)
      .max(PAIRS_MAX)
      .describe(
        'Pairs that close positions; the first possible one is used: what is owed in the quote currency by selling the base currency, what is owed in the base currency by buying it',
      ),
    before_grace_ends: durationText
      .optional()
      .describe(
        'Closes a position this long before its grace period ends, so that no interest is charged, ISO 8601',
      ),
    max_carry_bps: plainNumber
      .min(0)
      .max(10_000)
      .optional()
      .describe(
        'Closes a position before the interest on it is more than this, basis points of what is owed',
      ),
    lead_time: durationText
      .default('PT15M')
      .describe('How long before the charge that would exceed max_carry_bps the closing starts, ISO 8601'),
    close_in_modes: z
      .array(z.enum(['Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only']))
      .default([])
      .describe('Risk modes of a pair in which positions in its currencies are closed at once'),
    buffer_bps: plainNumber
      .min(0)
      .max(1_000)
      .default(0)
      .describe(
        'How much more than the debt is traded, so that fees and interest leave no remainder, basis points',
      ),
    max_slice_notional: amountOf(
      'Largest piece in quote currency; a position is closed in as few equal pieces as it allows. Default: in one',
    ).optional(),
    interval: durationText
      .default('PT15S')
      .describe('Least time between two pieces, and how long a piece may be tried, ISO 8601'),
    rates_timeout: durationText
      .default('PT10M')
      .describe(
        'Closes a position when the venue has reported no funding rate of its currency for this long, ISO 8601',
      ),
  }),
);
export type Params = z.output<typeof params>;

export const ruleOf = (plan: Params): SettleRule => ({
  beforeGraceMs: plan.before_grace_ends === undefined ? undefined : parseDuration(plan.before_grace_ends),
  carryBpsMax: plan.max_carry_bps === undefined ? undefined : ratioOf(plan.max_carry_bps),
  leadMs: parseDuration(plan.lead_time),
  modes: plan.close_in_modes,
  ...(plan.max_slice_notional === undefined
    ? {}
    : {
        pieces: {
          largest: money(plan.max_slice_notional.amount),
          intervalMs: Math.floor(parseDuration(plan.interval)),
        },
      }),
});

/** The wait for the first position that is to be closed, from `notBefore` on. */
export function debtWait(plan: Params, notBefore: Extract<Wait, { on: 'debt' }>['notBefore']): Wait {
  const { beforeGraceMs, carryBpsMax, leadMs, modes, pieces } = ruleOf(plan);
  return {
    on: 'debt',
    pairs: plan.pairs,
    ...(beforeGraceMs === undefined ? {} : { beforeGraceMs }),
    ...(carryBpsMax === undefined ? {} : { carryBpsMax: text(carryBpsMax) }),
    leadMs,
    modes,
    ...(pieces === undefined
      ? {}
      : { pieces: { largest: text(pieces.largest), intervalMs: pieces.intervalMs } }),
    notBefore,
  };
}

/** What is wrong across the fields of a settle document. */
export function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems: Problem[] = [...atMostOnce(plan.pairs, 'pairs')];
  const { before_grace_ends: grace, max_carry_bps: carry, close_in_modes: modes } = plan;
  if (grace === undefined && carry === undefined && modes.length === 0)
    problems.push({
      path: [],
      message: 'say when positions are closed: give before_grace_ends, max_carry_bps or close_in_modes',
    });
  if (parseDuration(plan.interval) < SECOND_MS)
    problems.push({ path: ['interval'], message: 'the interval is at least a second: PT1S' });
  return [...problems, ...checkPieces(plan, world)];
}

function checkPieces({ pairs, max_slice_notional: largest }: Params, world: CheckWorld): readonly Problem[] {
  if (largest === undefined) return [];
  return pairs.flatMap((pair, n): readonly Problem[] => {
    const quote = world.currencies(pair)?.quote;
    if (quote !== undefined && quote !== largest.currency) {
      const message = `max_slice_notional is in ${largest.currency}, ${pair} is quoted in ${quote}: give it a document of its own`;
      return [{ path: ['pairs', n], message }];
    }
    const { notional } = world.minimum(pair);
    if (notional === undefined || money(largest.amount).gte(notional.times(2))) return [];
    const message = `pieces could be below the venue's minimum of ${text(notional)}: write at least twice as much`;
    return [{ path: ['max_slice_notional', 'amount'], message }];
  });
}
