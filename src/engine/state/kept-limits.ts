import { BUILT_IN } from '../../core/approvals/limits-in-force.ts';
import type { KeptLimits } from '../../core/approvals/limits-in-force.ts';
import type { ApprovalPolicy } from '../../core/approvals/approval-policy.ts';
import { limitTexts } from '../../core/risk/limit-changes.ts';
import type { DeskSettings } from '../desk-settings.ts';

/** The limits that a start records; none if the journal does not outlive the process. */
export const limitsToKeep = ({
  areLimitsKept,
  limits,
  fourEyes,
  approvals: policy,
}: Pick<DeskSettings, 'areLimitsKept' | 'limits' | 'fourEyes' | 'approvals'>): KeptLimits | undefined =>
  areLimitsKept === true
    ? { limits: limitTexts(limits), fourEyes: fourEyes === true, ...(policy === undefined ? {} : { policy }) }
    : undefined;

/** The approval policy according to only the config of this start. */
export const ownPolicy = ({
  approvals,
  fourEyes,
}: Pick<DeskSettings, 'approvals' | 'fourEyes'>): ApprovalPolicy =>
  approvals ?? (fourEyes === true ? BUILT_IN.two : BUILT_IN.one);
