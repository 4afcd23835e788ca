import { countWords, requirementOf } from '../../core/approvals/approval-settings.ts';
import { parentSubject } from '../../core/approvals/requests.ts';
import { quantity, text } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { Refusal } from '../../core/risk/refusal.ts';
import type { Desk } from '../desk.ts';
import type { OpenSlice } from '../state/engine-state.ts';
import { standingOf } from './approval-requests.ts';
import { settingsNow } from './approvals.ts';

/** A total of a parent, in its own currency. */
interface Total {
  readonly amount: Quantity;
  readonly currency: string;
}

/** Whether an order of a parent may leave. */
interface Judgement {
  readonly refusal?: Refusal | undefined;
  /** The amount by which the parent was judged, for the journal; only if it may trade without approval. */
  readonly amount?: string | undefined;
}

/**
 * Whether an order of this parent may leave now: by the decision on its request, or else by its amount at the current
 * reference prices. Requests approval if the parent needs one.
 */
export function judgedParent(desk: Desk, { strategy, hash, intent }: OpenSlice): Judgement {
  if (settingsNow(desk)?.parents_above === undefined) return {};
  const { parent, side, pair } = intent;
  const subject = parentSubject(parent);
  const standing = standingOf(desk, subject);
  if (standing?.is === 'approved') return {};
  if (standing !== undefined)
    return {
      refusal: {
        reason: standing.is === 'open' ? 'approval_pending' : 'approval_refused',
        detail: standing.says,
      },
    };
  const totals = totalsOf(desk, { strategy, hash, intent });
  // The parent began when it needed no approval, and a price move does not stop it halfway.
  const filled = desk.state.totals.parent(parent)?.filled;
  if (totals.length > 0 && filled !== undefined && !filled.isZero()) return {};
  const worth = worthOf(desk, totals);
  const amount = worth === undefined ? 'unknown' : text(worth);
  const token = desk.state.lives.get(strategy)?.begunBy;
  const requirement = requirementOf(settingsNow(desk), { kind: 'parent', amount: worth, by: token?.name });
  if (requirement === undefined) return { amount };
  desk.wished$.next({
    for: 'parent',
    asks: `${side} ${pair} by strategy ${strategy}: ${sizeWords(desk, totals, amount)}`,
    amount,
    subject,
    requirement,
    strategy,
    parent,
    by: token?.name ?? 'tranche',
    token,
    why: worth === undefined ? 'its total is not known' : 'its total is above parents_above',
  });
  return { refusal: { reason: 'approval_pending', detail: `it needs ${countWords(requirement.count)}` } };
}

/** Describes the size of the parent for people. */
function sizeWords({ policy }: Desk, totals: readonly Total[], amount: string): string {
  const { currency, dayNotionalMax } = policy.limits;
  if (totals.length === 0)
    return `amount not known before it trades${dayNotionalMax === undefined ? '' : `; at most ${text(dayNotionalMax)} ${currency} a day, by max_day_notional`}`;
  const sizes = totals.map((one) => `${text(one.amount)} ${one.currency}`).join(' or ');
  return `${sizes}, worth ${amount === 'unknown' ? `an unknown amount of ${currency}` : `${amount} ${currency}`}`;
}

/** The largest of the totals, in the currency of the limits; `undefined` while one of them cannot be converted. */
function worthOf({ rates, policy }: Desk, totals: readonly Total[]): Money | undefined {
  const worths = totals.map(({ amount, currency }) =>
    rates.convert(currency, amount, policy.limits.currency),
  );
  if (worths.length === 0 || worths.includes(undefined)) return undefined; // fails closed
  return worths.filter((worth) => worth !== undefined).reduce((a, b): Money => (a.gte(b) ? a : b));
}

/**
 * The known totals of a parent: the plan of its strategy, or else the total that the strategy reports and the decisions
 * so far. Empty if the strategy does not know its total before it trades; it then counts as unlimited.
 */
function totalsOf(
  { state, strategies, instruments }: Desk,
  { strategy, hash, intent }: Pick<OpenSlice, 'strategy' | 'hash' | 'intent'>,
): readonly Total[] {
  const { base, quote } = instruments.of(intent.pair);
  const currencyOf = (by: 'quantity' | 'amount'): string => (by === 'quantity' ? base : quote);
  const life = state.lives.get(strategy);
  const plan = life?.hash === hash ? strategies.plan(strategy) : undefined;
  if (plan !== undefined) return [{ amount: plan.total, currency: currencyOf(plan.by) }];
  const progress =
    life?.state === undefined ? undefined : strategies.sources.get(strategy)?.bound.progress(life.state);
  if (progress === undefined) return [];
  const decided = state.totals.parent(intent.parent)?.decided ?? quantity(intent.size);
  return [
    { amount: quantity(progress.total), currency: progress.currency },
    { amount: decided, currency: currencyOf(intent.by) },
  ];
}
