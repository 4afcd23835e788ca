import { countWords, requirementOf } from '../../core/approvals/approval-settings.ts';
import { limitsSubject, personFault, strategySubject } from '../../core/approvals/requests.ts';
import type { UsedToken } from '../../core/record.ts';
import type { Desk } from '../desk.ts';
import type { StrategySource } from '../state/strategy-source.ts';
import { standingOf } from './approval-requests.ts';
import { settingsNow } from './approvals.ts';
import type { Wish } from './proposals.ts';
import { differences } from './text-differences.ts';

/** Whether a start or reload may carry out a change. */
export interface Verdict {
  /** Why not; omitted: it may. */
  readonly why?: string | undefined;
  /** The request to make first, if there is none yet. */
  readonly wish?: Wish | undefined;
  /** The approved request that allows the change. */
  readonly approval?: string | undefined;
}

/** Who reloads the files; `tranche` after an approval, and at a start. */
export interface ReloadedBy {
  readonly by: string;
  readonly why: string;
  readonly token?: UsedToken | undefined;
}

/**
 * Whether this document may start, or replace a running one. An approval covers the document by its hash. An edited
 * document needs another approval, and a document that has started has used up its approval. After a rejection or
 * expiry, only a person's reload requests approval again.
 */
export function strategyVerdict(
  desk: Desk,
  { id, kind, hash, document }: StrategySource,
  asker: ReloadedBy,
): Verdict {
  const subject = strategySubject(id, hash);
  const standing = standingOf(desk, subject);
  if (standing?.is === 'approved') return { approval: standing.request };
  if (standing?.is === 'open') return { why: standing.says };
  const person = asker.token?.kind === 'person' ? asker.token.name : undefined;
  const requirement = requirementOf(settingsNow(desk), { kind: 'strategy', by: person });
  if (requirement === undefined) return {};
  const isUsed = desk.state.approvals.of(subject)?.usedBy !== undefined;
  if (standing !== undefined && !isUsed && person === undefined)
    return { why: `${standing.says}; tranche reload by a person asks again` };
  const before = desk.state.lives.get(id);
  return {
    why: `it needs ${countWords(requirement.count)}`,
    wish: {
      for: 'strategy',
      asks: `${before === undefined ? 'begin' : 'change'} strategy ${id} (${kind}, ${hash.slice(0, 12)})`,
      subject,
      requirement,
      difference: differences(before?.document ?? {}, document),
      strategy: id,
      ...asker,
    },
  };
}

/** Whether these limits may be loosened now. An approval covers exactly these changes. */
export function limitsVerdict(
  desk: Desk,
  loosened: readonly string[],
  { by, why, token }: ReloadedBy,
): Verdict {
  if (desk.state.limits.raised !== undefined)
    return { why: 'other limits were raised at the start, and wait until two people re-arm the desk' };
  const subject = limitsSubject(loosened);
  const standing = standingOf(desk, subject);
  if (standing?.is === 'approved') return { approval: standing.request };
  if (standing?.is === 'open') return { why: `takes two people: ${standing.says}` };
  if (by === 'tranche') return { why: 'a limit is loosened only on request: run tranche reload' };
  const requirement = requirementOf(settingsNow(desk), { kind: 'limits' });
  if (requirement === undefined) return {};
  // Otherwise, a person with shell access and a token could act as both people.
  const nobody = 'a signal names no person: reload with the token of a person and --url';
  const fault = token === undefined ? nobody : personFault(token);
  if (fault !== undefined) return { why: `takes two people: ${fault}` };
  const asks = `loosen ${loosened.join(', ')}`;
  return {
    why: `takes two people: it needs ${countWords(requirement.count)}, see tranche approvals`,
    wish: { for: 'limits', asks, difference: loosened, subject, requirement, by, why, token },
  };
}
