import { money } from '../money.ts';
import type { ApprovalRecord, ReloadRecord, StartedRecord } from '../record.ts';
import { changeWords, limitDifference, loosenedLimits } from '../risk/limit-changes.ts';
import type { LimitTexts } from '../risk/limit-table.ts';
import { approvalTexts, requirementOf } from './approval-settings.ts';
import { personOf } from './requests.ts';
import type { ApprovalSettings, Requirement } from './approval-settings.ts';

/** The limits of a start, and who must approve if they are raised. */
export interface KeptLimits {
  readonly limits: LimitTexts;
  readonly approvals?: ApprovalSettings | undefined;
}

/** Limits as the journal records them. */
export interface LimitsInForce {
  /** Those of the last start that needed no approval or was approved. */
  readonly agreed?: KeptLimits | undefined;
  /** Those of this process, until they are approved. */
  readonly raised?: KeptLimits | undefined;
}

/** Applies the record of a start. */
export function limitsAtStart(
  { agreed }: LimitsInForce,
  { limits, approvals }: StartedRecord,
): LimitsInForce {
  if (limits === undefined) return { agreed };
  const now = { limits, ...(approvals === undefined ? {} : { approvals }) };
  return raisedLimits({ agreed, raised: now }).length > 0 ? { agreed, raised: now } : { agreed: now };
}

/**
 * Applies a reload. A desk raises a limit only after all approvals, and raises no limit while other raised limits await
 * a rearm. A lowered limit is lowered in both sets.
 */
export function limitsAtReload({ agreed, raised }: LimitsInForce, { limits }: ReloadRecord): LimitsInForce {
  if (limits === undefined) return { agreed, raised };
  return raised === undefined
    ? { agreed: agreed && { ...agreed, limits } }
    : { agreed, raised: { ...raised, limits } };
}

/** Applies a rearm. The person who lifts the halt has seen the raised limits. */
export const agreedTo = ({ agreed, raised }: LimitsInForce): LimitsInForce => ({ agreed: raised ?? agreed });

/** The raised settings that others must approve before the desk trades with the config of this start, in words. */
export function raisedLimits({ agreed, raised: now }: LimitsInForce): readonly string[] {
  if (agreed === undefined || now === undefined) return [];
  const [was, is] = [agreed.approvals, now.approvals];
  if (requirementOf(was ?? is, { kind: 'limits' }) === undefined) return [];
  const changes =
    was === undefined ? [] : limitDifference(approvalTexts(was), is === undefined ? {} : approvalTexts(is));
  return [
    ...loosenedLimits(agreed.limits, now.limits),
    ...changes.map(({ limit, ...values }) => changeWords({ limit: `approvals.${limit}`, ...values })),
  ];
}

/**
 * Who must approve: the settings of the config, or while it raises limits that are not approved, those of the last start
 * that needed no approval or was approved. Settings that are new, however, apply immediately.
 */
export const approvalsInForce = (
  { agreed, raised }: LimitsInForce,
  own: ApprovalSettings | undefined,
): ApprovalSettings | undefined => (raised === undefined ? own : (agreed?.approvals ?? own));

/**
 * What a request needs under these settings. Lifting a halt needs the approval of a rearm, and that of limits if the
 * start raised some.
 */
export function requirementOfRequest(
  { for: kind, token, amount = 'unknown' }: Pick<ApprovalRecord, 'for' | 'token' | 'amount'>,
  settings: ApprovalSettings | undefined,
  raised: readonly string[],
): Requirement | undefined {
  const known = amount === 'unknown' ? undefined : money(amount);
  const needed = requirementOf(settings, { kind, by: personOf(token)?.name, amount: known });
  const isOfLimits = kind === 'rearm' && needed === undefined && raised.length > 0;
  return isOfLimits ? requirementOf(settings, { kind: 'limits' }) : needed;
}
