import { money } from '../money.ts';
import type { Money } from '../money.ts';
import { DAY_MS, MINUTE_MS } from '../time.ts';

/** What `operate.approvals.for` may list, with one sentence each. Names are stable: configs and journals rely on them. */
export const guardedKinds = {
  rearm: 'a halt is lifted',
  limits: 'a limit allows more than before, or operate.approvals changes',
  strategy: 'a strategy begins, or takes over from a running one with another text',
  doubt: 'a doubt is resolved with figures from a person, or rows are attributed',
} as const;
export type GuardedKind = keyof typeof guardedKinds;
/** `parent`: a parent order above `parents_above` sends its first slice. */
export type RequestKind = GuardedKind | 'parent';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own keys
export const guardedNames = Object.keys(guardedKinds) as [GuardedKind, ...GuardedKind[]];
export const requestKinds: readonly [RequestKind, ...RequestKind[]] = [...guardedNames, 'parent'];

/** `operate.approvals`, as plain JSON: the journal stores it. */
export interface ApprovalSettings {
  readonly for: readonly GuardedKind[];
  /** Parents above this amount need approval, in the currency of the limits. Omitted: no parent does. */
  readonly parents_above?: string | undefined;
  /** Number of people, other than the requester, who must approve. */
  readonly count: number;
  /** `required`: a passkey must sign each approval. `optional`: a token is enough. */
  readonly passkey: 'required' | 'optional';
}

/** The settings as text, by their names in the config. */
export const approvalTexts = (settings: ApprovalSettings): Readonly<Record<string, string>> => ({
  for: settings.for.toSorted().join(', '),
  ...(settings.parents_above === undefined ? {} : { parents_above: settings.parents_above }),
  count: String(settings.count),
  passkey: settings.passkey,
});

export interface Requirement {
  /** Number of different people who must approve. */
  readonly count: number;
  readonly passkey?: 'required' | undefined;
}

/**
 * Returns the approvals that a request needs; `undefined` if it needs none. `by`: the requester; omitted if the desk does
 * not know it. One of the approvers may have put the file of a strategy there, so one more person must then approve.
 * `amount`: value of a parent, in the currency of the limits; an unknown value counts as above every amount.
 */
export function requirementOf(
  settings: ApprovalSettings | undefined,
  { kind, by, amount }: { kind: RequestKind; by?: string | undefined; amount?: Money | undefined },
): Requirement | undefined {
  if (settings === undefined) return undefined;
  const { parents_above: above, count, passkey } = settings;
  const isNeeded =
    kind === 'parent'
      ? above !== undefined && (amount === undefined || amount.gt(money(above)))
      : settings.for.includes(kind);
  if (!isNeeded) return undefined;
  const isOfFile = kind === 'parent' || kind === 'strategy';
  return {
    count: isOfFile && by === undefined ? count + 1 : count,
    ...(passkey === 'required' ? { passkey } : {}),
  };
}

/** Time until an undecided request expires. Requests about the desk's situation wait only for minutes, because it changes. */
export const waitMsOf = (kind: RequestKind): number =>
  kind === 'rearm' || kind === 'doubt' ? 15 * MINUTE_MS : DAY_MS;

/** Whether a request outlives the process that made it. A rearm and a doubt's figures belong to the situation at the time. */
export const isLasting = (kind: RequestKind): boolean => kind !== 'rearm' && kind !== 'doubt';

/** Who must approve, in words. */
export const countWords = (count: number): string =>
  count === 1 ? '1 other person' : `${count} other people`;
