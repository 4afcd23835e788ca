import { z } from 'zod';
import { money, ratioOf, text } from '../../../core/money.ts';
import { duesOf } from '../../../core/risk/settling.ts';
import type { Debt, SettleRule } from '../../../core/risk/settling.ts';
import { after, instant, isoOf, MINUTE_MS, parseDuration } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import type { Wait, Wake } from '../../../core/wake.ts';
import { atMostOnce, checkInterval, checkPiece } from '../../checks.ts';
import { amountOf, durationText, pairSymbol, plainNumber } from '../../fields.ts';
import { defineStrategy } from '../../kernel.ts';
import type { CheckWorld, Problem, Step, View } from '../../kernel.ts';
import { intervalField, pausedUntil, PIECES_MAX } from '../../worker/pieces.ts';
import { started } from '../../worker/total.ts';
import { orderFor } from './settle-order.ts';
import type { ClosingOrder } from './settle-order.ts';

const PAIRS_MAX = 50;

/** The fields of a settle document. */
const params = z.lazy(() =>
  z.strictObject({
    pairs: z
      .array(pairSymbol)
      .min(1)
      .max(PAIRS_MAX)
      .describe(
        'Pairs that close positions; the first suitable pair is used. A debt in the quote currency is closed by selling the base currency, and a debt in the base currency by buying it',
      ),
    before_grace_ends: durationText
      .optional()
      .describe(
        'How long before the end of its grace period a position is closed, so that no interest is charged, ISO 8601',
      ),
    max_carry_bps: plainNumber
      .min(0)
      .max(10_000)
      .optional()
      .describe(
        'Maximum interest on a position, basis points of the debt; the position is closed before a charge exceeds it',
      ),
    lead_time: durationText
      .default('PT15M')
      .describe('How long before the charge that would exceed max_carry_bps the closing starts, ISO 8601'),
    close_in_modes: z
      .array(z.enum(['Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only']))
      .default([])
      .describe("Risk modes of a pair in which positions in the pair's currencies are closed immediately"),
    min_headroom: plainNumber
      .min(0)
      .max(1)
      .optional()
      .describe(
        "Distance of equity / exposure from the venue's liquidation level, a fraction, below which debts are reduced until it is reached again",
      ),
    buffer_bps: plainNumber
      .min(0)
      .max(1_000)
      .default(0)
      .describe('Amount traded beyond the debt, so that fees and interest leave no remainder, basis points'),
    max_slice_notional: amountOf(
      'Largest piece in quote currency; a position is closed in as few equal pieces as this allows. Default: in one',
    ).optional(),
    interval: intervalField,
  }),
);
type Params = z.output<typeof params>;

/** Time without a reported funding rate for a position's currency after which the position is closed. */
const RATES_TIMEOUT_MS = 10 * MINUTE_MS;

const ruleOf = (plan: Params): SettleRule => ({
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

/** Returns the wait for the first position that is due to be closed, from `notBefore` on. */
function debtWait(plan: Params, notBefore: Instant): Wait {
  const { carryBpsMax, pieces, beforeGraceMs, ...rule } = ruleOf(plan);
  return {
    on: 'debt',
    pairs: plan.pairs,
    ...(beforeGraceMs === undefined ? {} : { beforeGraceMs }),
    ...(carryBpsMax === undefined ? {} : { carryBpsMax: text(carryBpsMax) }),
    ...rule,
    ...(pieces === undefined ? {} : { pieces: { ...pieces, largest: text(pieces.largest) } }),
    ...(plan.min_headroom === undefined ? {} : { headroom: String(plan.min_headroom) }),
    notBefore,
  };
}

/** Checks across the fields of a settle document. */
function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems: Problem[] = [...atMostOnce(plan.pairs, 'pairs')];
  const { before_grace_ends: grace, max_carry_bps: carry, close_in_modes: modes, min_headroom: room } = plan;
  if (grace === undefined && carry === undefined && modes.length === 0 && room === undefined)
    problems.push({
      path: [],
      message:
        'closing times are missing: give before_grace_ends, max_carry_bps, close_in_modes or min_headroom',
    });
  return [...problems, ...checkInterval(plan), ...checkPieces(plan, world)];
}

function checkPieces({ pairs, max_slice_notional: largest }: Params, world: CheckWorld): readonly Problem[] {
  if (largest === undefined) return [];
  return pairs.flatMap((pair, n): readonly Problem[] => {
    const quote = world.currencies(pair)?.quote;
    if (quote !== undefined && quote !== largest.currency) {
      const message = `max_slice_notional is in ${largest.currency}, but ${pair} is quoted in ${quote}: use a separate document for ${pair}`;
      return [{ path: ['pairs', n], message }];
    }
    return checkPiece(largest.amount, world.minimum(pair));
  });
}

const state = z.lazy(() =>
  z.strictObject({
    /** Number of closings begun, which is part of the name of the newest parent. */
    closings: z.int().min(0),
    /** Time before which nothing is checked, Unix ms. */
    rest: z.number(),
    /** Since when a required funding rate has been unknown, Unix ms. */
    unknownSince: z.number().optional(),
    /** The closing in progress. */
    now: z
      .strictObject({
        /** Number of the next piece. */
        slice: z.int().min(0),
        /** Consecutive pieces that did not trade. */
        misses: z.int().min(0),
      })
      .optional(),
  }),
);
type State = z.output<typeof state>;

/** Time after which an unknown funding rate is checked again. */
const ASK_AGAIN_MS = MINUTE_MS;

type StepReport = Pick<Step<State>, 'reason' | 'note'>;

/**
 * Closes positions on credit before the grace period ends, or before their interest passes a bound. It waits for the
 * instant that results from the start of the debt and the venue's terms. Each piece is sized by what the account owes
 * when the piece begins, and ends before the next piece begins, so nothing is closed twice.
 */
export const settle = defineStrategy<Params, State>({
  kind: 'settle',
  summary: 'closes positions on credit before they are charged interest, or more interest than allowed',
  params,
  state,
  of: (plan) => ({
    pairs: plan.pairs,
    needsTerms: true,
    isReplaceable: () => true,
    check: (world) => check(plan, world),
    start: (begunAt) => idle({ closings: 0, rest: begunAt }, plan),

    step(was, wake, { view }) {
      if (wake.on === 'outcome') return settlePiece(was, wake, plan);
      if (view.holdings === undefined) return pause(was, plan, view.at, { reason: 'no_balances' });
      const { due, unknown } = look(was, plan, view);
      if (due.length === 0) due.push(...excessOf(plan, view));
      if (due.length === 0 && unknown.length > 0) {
        const unknownSince = was.unknownSince ?? view.at;
        const note = `no funding rate of ${unknown.join(', ')}`;
        const rest = after(view.at, ASK_AGAIN_MS);
        return idle({ ...was, unknownSince, rest }, plan, { reason: 'pts_unknown', note });
      }
      const { unknownSince: _, ...known } = was;
      const now = unknown.length === 0 ? known : was;
      if (due.length === 0) return idle(now, plan, wake.on === 'debt' ? { reason: 'waiting' } : {});
      return close(now, due, { plan, view });
    },
  }),
});

/** Waits for the next position that is due to be closed. */
function idle(was: State, plan: Params, report: StepReport = {}): Step<State> {
  const { now: _, ...later } = was;
  return { state: later, waits: [debtWait(plan, instant(was.rest))], ...report };
}

/** A debt that is due to be closed. */
interface DueDebt extends Debt {
  readonly currency: string;
}

/** Returns the debts that are due now, the longest due first, and the currencies whose funding rate is unknown. */
function look(
  was: State,
  plan: Params,
  view: View,
): { readonly due: DueDebt[]; readonly unknown: readonly string[] } {
  const { at, debts } = view;
  const dues = duesOf(
    plan.pairs.map((pair) => view.instrument(pair)),
    ruleOf(plan),
    {
      debts,
      rateOf: (currency) => view.rateOf(currency),
      modeOf: (pair) => view.modeOf(pair),
      midOf: (pair) => view.reference(pair)?.mid,
    },
  );
  const unknown = dues.filter((due) => due.at === 'unknown').map(({ currency }) => currency);
  const isGivenUp = was.unknownSince !== undefined && at - was.unknownSince >= RATES_TIMEOUT_MS;
  const due = dues
    .map((one) => ({
      currency: one.currency,
      at: one.at === 'unknown' ? (isGivenUp ? 0 : undefined) : one.at,
    }))
    .filter((one): one is { currency: string; at: Instant } => one.at !== undefined && one.at <= at)
    .toSorted((a, b) => a.at - b.at || (a.currency < b.currency ? -1 : 1))
    .flatMap(({ currency }) => {
      const debt = debts.get(currency);
      return debt === undefined ? [] : [{ currency, ...debt }];
    });
  return { due, unknown };
}

/** The debts to reduce until the headroom is restored, each with only the part to repay. */
function excessOf({ min_headroom: headroom }: Params, view: View): readonly DueDebt[] {
  const excess = headroom === undefined ? undefined : view.excessDebts(ratioOf(headroom));
  return [...(excess ?? [])].flatMap(([currency, amount]) => {
    const debt = view.debts.get(currency);
    return debt === undefined ? [] : [{ currency, ...debt, amount }];
  });
}

/** Starts a piece for the first debt that an order can close. */
function close(
  was: State,
  due: readonly DueDebt[],
  { plan, view }: { readonly plan: Params; readonly view: View },
): Step<State> {
  const orders = due.map((debt) => ({ debt, order: orderFor(plan, debt, view) }));
  for (const { debt, order } of orders)
    if (!('reason' in order)) return startPiece(was, plan, { debt, order, at: view.at });
  const [first] = orders;
  const why = first !== undefined && 'reason' in first.order ? first.order : { reason: 'no_funds' as const };
  return pause(was, plan, view.at, why);
}

interface Piece {
  readonly debt: DueDebt;
  readonly order: ClosingOrder;
  readonly at: Instant;
}

function startPiece(was: State, plan: Params, { debt, order, at }: Piece): Step<State> {
  const { slice: next = PIECES_MAX, misses = 0 } = was.now ?? {};
  // A closing that has used up its pieces continues as another one.
  const isNew = next >= PIECES_MAX;
  const closings = was.closings + (isNew ? 1 : 0);
  const slice = isNew ? 0 : next;
  // The controls count each parent in a single unit.
  const leg = `${closings}.${order.pair}.${order.side}.${order.size.by}`;
  const deadline = after(at, intervalOf(plan));
  const since = debt.since === 0 ? 'before the first check' : isoOf(debt.since);
  return started(
    { ...was, closings, rest: deadline, now: { slice: slice + 1, misses } },
    { leg, slice, ...order, deadline },
    { note: `owes ${text(debt.amount)} ${debt.currency} since ${since}` },
  );
}

const intervalOf = (plan: Params): number => Math.floor(parseDuration(plan.interval));

const KEPT = 'sizing.keep leaves no more of the currency it pays with';

/** Handles the end of a piece. The debt is checked again when the piece's interval is over, or later if nothing traded. */
function settlePiece(
  was: State,
  { at, outcome }: Wake & { readonly on: 'outcome' },
  plan: Params,
): Step<State> {
  if (was.now === undefined) return idle(was, plan, { reason: 'waiting', note: `${outcome.leg} is over` });
  if (!outcome.filled.gt(0)) {
    const reason = outcome.reason === 'kept_back' ? 'kept_back' : 'waiting';
    const why = reason === 'kept_back' ? KEPT : (outcome.reason ?? 'no price');
    return pause(was, plan, at, { reason, note: `not closed: ${why}` });
  }
  const now: State = { ...was, now: { ...was.now, misses: 0 } };
  const report: StepReport =
    outcome.reason === 'kept_back' ? { reason: 'kept_back', note: `closed in part: ${KEPT}` } : {};
  return { state: now, waits: [{ on: 'at', at: instant(was.rest) }], ...report };
}

/** Pauses before the next check; the pause doubles with each piece that traded nothing. */
function pause(was: State, plan: Params, at: Instant, report: StepReport): Step<State> {
  const misses = (was.now?.misses ?? 0) + 1;
  const rest = pausedUntil(was.rest, at, { misses, interval: plan.interval });
  const now: State = { ...was, rest, now: { slice: was.now?.slice ?? 0, misses } };
  return { state: now, waits: [{ on: 'at', at: rest }], ...report };
}
