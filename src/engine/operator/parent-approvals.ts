import { EMPTY, filter, from, ignoreElements, map, mergeMap, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { requirementWords } from '../../core/approvals/approval-policy.ts';
import { parentSubject } from '../../core/approvals/approval-request.ts';
import { quantity, text } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { Refusal } from '../../core/risk/refusal.ts';
import type { Desk } from '../desk.ts';
import type { Override } from '../state/override-state.ts';
import type { OpenSlice, StrategyRun } from '../state/engine-state.ts';
import { watch } from '../watch.ts';
import { blockedWords, missingWords, requirementFor } from './approvals.ts';
import { isOver } from './approval-requests.ts';
import type { Wish } from './proposals.ts';

/** The parts of a desk that this file uses. */
export type ParentApprovalsContext = Pick<
  Desk,
  'instruments' | 'policy' | 'ports' | 'proposals' | 'rates' | 'state' | 'strategies' | 'wished$'
>;

/** A parent as an approval identifies it. */
interface JudgedParent {
  /** Changes when the strategy's document changes. */
  readonly subject: string;
  /**
   * Known totals, each in its own currency; the largest counts. Empty: the strategy does not know its total before it
   * trades.
   */
  readonly totals: readonly { readonly amount: Quantity; readonly currency: string }[];
  /** Whether the total covers the whole parent. A parent that started below the threshold continues. */
  readonly isWhole: boolean;
}

/** Whether the policy of the desk covers parents at all: the built-in one does not. */
const looksAtParents = ({ policy, state }: Pick<Desk, 'policy' | 'state'>): boolean =>
  policy.approvals !== undefined || state.limits.agreed?.policy !== undefined;

/**
 * Why no order of this parent may leave now, from known decisions; `undefined` if no approval is needed or it was given. Needs
 * no price.
 */
export function askedParentRefusal(desk: ParentApprovalsContext, slice: OpenSlice): Refusal | undefined {
  if (!looksAtParents(desk)) return undefined;
  const parent = parentOf(desk, slice);
  const [id, known] = desk.state.overrides.of(parent.subject) ?? [];
  return id === undefined || known === undefined ? undefined : refusalOf(desk, id, known);
}

/**
 * The same for a parent without an earlier decision: judges it by its amount at the current reference prices, and
 * requests approval if the policy requires it.
 */
export const parentRefusal = (desk: ParentApprovalsContext, slice: OpenSlice): Refusal | undefined =>
  judgedParent(desk, slice).refusal;

/**
 * The amount that the policy judged, for the journal; `undefined` if the policy does not cover parents, people have
 * approved, or the parent began earlier.
 */
export const judgedAmount = (desk: ParentApprovalsContext, slice: OpenSlice): string | undefined =>
  judgedParent(desk, slice).amount;

interface Judgement {
  readonly refusal?: Refusal | undefined;
  readonly amount?: string | undefined;
}

function judgedParent(desk: ParentApprovalsContext, slice: OpenSlice): Judgement {
  if (!looksAtParents(desk)) return {};
  const parent = parentOf(desk, slice);
  const [id, known] = desk.state.overrides.of(parent.subject) ?? [];
  if (id !== undefined && known !== undefined) return { refusal: refusalOf(desk, id, known) };
  // The parent began when it needed no approval: a price move does not stop it halfway.
  const filled = desk.state.totals.parent(slice.intent.parent)?.filled;
  if (parent.isWhole && filled !== undefined && !filled.isZero()) return {};
  const { strategy, intent } = slice;
  const refusal = judge(desk, parent, {
    strategy,
    parent: intent.parent,
    what: `${intent.side} ${intent.pair}`,
  });
  return refusal === undefined ? { amount: amountText(amountOf(desk, parent.totals)) } : { refusal };
}

const amountText = (amount: Money | undefined): string => (amount === undefined ? 'unknown' : text(amount));

function refusalOf(desk: ParentApprovalsContext, id: string, known: Override): Refusal | undefined {
  // While a rejection is being recorded, no order of the parent may leave.
  if (desk.proposals.isBusy(id))
    return { reason: 'approval_pending', detail: `a decision about ${id} is being written` };
  if (known.ended === undefined && known.approvedBy !== undefined) return undefined;
  const end = known.ended?.how ?? (isOver(desk, id) ? 'expired' : undefined);
  return end === undefined
    ? { reason: 'approval_pending', detail: `${id} needs ${missingWords(desk, known)}` }
    : { reason: 'approval_refused', detail: `${id} is ${end}` };
}

function judge(
  desk: ParentApprovalsContext,
  { subject, totals }: JudgedParent,
  { strategy, parent, what }: { strategy: string; parent?: string | undefined; what: string },
): Refusal | undefined {
  const amount = amountOf(desk, totals);
  const token = desk.state.lives.get(strategy)?.begunBy;
  const requirement = requirementFor(desk, { kind: 'parent', amount, strategy, by: token?.name });
  if (requirement.outcome === 'allow') return undefined;
  if (requirement.outcome === 'block')
    return { reason: 'approval_refused', detail: blockedWords(requirement) };
  const wish: Wish = {
    request: 'parent',
    asks: `${what} by strategy ${strategy}: ${sizeWords(desk, totals, amount)}`,
    amount: amountText(amount),
    subject,
    requirement,
    strategy,
    parent,
    by: token?.name ?? 'tranche',
    token,
    why: amount === undefined ? 'its total is not known' : 'its total is above the amount of operate.policy',
  };
  desk.wished$.next(wish);
  return { reason: 'approval_pending', detail: requirementWords(requirement) };
}

/** Describes the size of the parent for people. */
function sizeWords(
  { policy }: ParentApprovalsContext,
  totals: JudgedParent['totals'],
  amount: Money | undefined,
): string {
  const { currency, dayNotionalMax } = policy.limits;
  if (totals.length === 0)
    return `amount not known before it trades${dayNotionalMax === undefined ? '' : `; at most ${text(dayNotionalMax)} ${currency} a day, by max_day_notional`}`;
  const sizes = totals.map((one) => `${text(one.amount)} ${one.currency}`).join(' or ');
  return `${sizes}, worth ${amount === undefined ? `an unknown amount of ${currency}` : `${text(amount)} ${currency}`}`;
}

/** The largest of the totals, in the currency of the limits; `undefined` while one of them cannot be converted. */
function amountOf(
  { rates, policy }: ParentApprovalsContext,
  totals: JudgedParent['totals'],
): Money | undefined {
  const worths = totals.map(({ amount, currency }) =>
    rates.convert(currency, amount, policy.limits.currency),
  );
  if (worths.length === 0 || worths.includes(undefined)) return undefined; // fails closed
  return worths.filter((worth) => worth !== undefined).reduce((a, b): Money => (a.gte(b) ? a : b));
}

/**
 * The parent of a slice: the whole run if the strategy plans one parent of known size; otherwise only this parent, judged
 * by the total that the strategy reports and by its decisions so far. A strategy that reports no total counts as
 * unlimited.
 */
function parentOf(desk: ParentApprovalsContext, { strategy, hash, intent }: OpenSlice): JudgedParent {
  const life = desk.state.lives.get(strategy);
  const whole = life === undefined || life.hash !== hash ? undefined : wholeOf(desk, life);
  if (whole !== undefined) return whole;
  const { base, quote } = desk.instruments.of(intent.pair);
  const progress =
    life?.state === undefined ? undefined : desk.strategies.sources.get(strategy)?.bound.progress(life.state);
  if (progress === undefined) return { subject: parentSubject([intent.parent]), totals: [], isWhole: false };
  const decided = desk.state.totals.parent(intent.parent)?.decided ?? quantity(intent.size);
  return {
    subject: parentSubject([intent.parent]),
    totals: [
      { amount: quantity(progress.total), currency: progress.currency },
      { amount: decided, currency: intent.by === 'quantity' ? base : quote },
    ],
    isWhole: true,
  };
}

/** The single parent of a strategy that plans its whole run in advance. */
function wholeOf(desk: ParentApprovalsContext, life: StrategyRun): JudgedParent | undefined {
  const plan = desk.strategies.plan(life.strategy);
  const [pair = ''] = desk.strategies.sources.get(life.strategy)?.bound.pairs ?? [];
  if (plan === undefined) return undefined;
  const { base, quote } = desk.instruments.of(pair);
  return {
    subject: parentSubject([life.strategy, life.hash, life.begunAt]),
    totals: [{ amount: plan.total, currency: plan.by === 'quantity' ? base : quote }],
    isWhole: true,
  };
}

/**
 * Requests approval for parents of known total as soon as they begin, so that people can decide before the first slot. Never
 * emits.
 */
export function askAhead(
  desk: ParentApprovalsContext & Pick<Desk, 'changed$' | 'references'>,
): Observable<never> {
  if (!looksAtParents(desk)) return EMPTY;
  const judged = new WeakSet<StrategyRun>();
  const news = (): readonly StrategyRun[] =>
    [...desk.state.lives.values()].filter(
      (life) => !judged.has(life) && life.finished === undefined && desk.strategies.isRun(life),
    );
  return watch(desk.changed$, news).pipe(
    filter((lives) => lives.length > 0),
    tap((lives) => {
      for (const life of lives) judged.add(life);
    }),
    mergeMap((lives) => from(lives)),
    mergeMap((life) => {
      const parent = wholeOf(desk, life);
      if (parent === undefined) return EMPTY;
      const pairs = desk.strategies.sources.get(life.strategy)?.bound.pairs ?? [];
      return desk.references.ready(pairs).pipe(map(() => ({ life, parent, pairs })));
    }, ASKED_AT_ONCE),
    tap(({ life, parent, pairs }) => {
      const isAsked = desk.state.overrides.of(parent.subject) !== undefined;
      const hasTraded = life.slicesFilled > 0;
      if (isAsked || hasTraded || amountOf(desk, parent.totals) === undefined) return;
      judge(desk, parent, {
        strategy: life.strategy,
        what: `${sideIn(life.document)}${pairs.join(' and ')}`,
      });
    }),
    ignoreElements(),
  );
}

/** `buy ` or `sell ` if the document names the side. */
const sideIn = (document: unknown): string =>
  typeof document === 'object' && document !== null && 'side' in document && typeof document.side === 'string'
    ? `${document.side} `
    : '';

/** Limits how many prices are requested from the venue at once. */
const ASKED_AT_ONCE = 4;
