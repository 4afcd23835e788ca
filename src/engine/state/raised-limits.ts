import type { ReloadRecord, StartedRecord } from '../../core/record.ts';
import { limitTexts, loosenedLimits } from '../../core/risk/limit-changes.ts';
import type { LimitTexts } from '../../core/risk/limit-changes.ts';
import type { Policy } from '../policy.ts';

/** The limits of a start, and whether raising them takes two people. */
export interface KeptLimits {
  readonly limits: LimitTexts;
  readonly fourEyes: boolean;
}

/** The limits that a start writes down; none where the journal does not outlive the process. */
export const limitsToKeep = ({
  areLimitsKept,
  limits,
  fourEyes,
}: Pick<Policy, 'areLimitsKept' | 'limits' | 'fourEyes'>): KeptLimits | undefined =>
  areLimitsKept === true ? { limits: limitTexts(limits), fourEyes: fourEyes === true } : undefined;

/** Limits as the journal knows them. */
export interface LimitsInForce {
  /** Those of the last start that needed no second person, or that one has agreed to. */
  readonly agreed?: KeptLimits | undefined;
  /** Those of this process, while a second person has not agreed to them. */
  readonly raised?: KeptLimits | undefined;
}

/** After the record of a start. */
export function limitsAtStart({ agreed }: LimitsInForce, record: StartedRecord): LimitsInForce {
  const { limits, four_eyes: fourEyes } = record;
  if (limits === undefined) return { agreed };
  const now = { limits, fourEyes: fourEyes === true };
  return raisedLimits(agreed, now).length > 0 ? { agreed, raised: now } : { agreed: now };
}

/**
 * After a reload. A desk raises a limit only once those who must have agreed to it, and raises none while others wait for a rearm: what
 * it lowers then is lowered for both.
 */
export function limitsAtReload({ agreed, raised }: LimitsInForce, { limits }: ReloadRecord): LimitsInForce {
  if (limits === undefined) return { agreed, raised };
  return raised === undefined
    ? { agreed: agreed && { ...agreed, limits } }
    : { agreed, raised: { ...raised, limits } };
}

/** After a halt was lifted: whoever lifts it was told what was raised. */
export const agreedTo = ({ agreed, raised }: LimitsInForce): LimitsInForce => ({ agreed: raised ?? agreed });

/** What a second person must agree to before the desk trades with the limits of this start, in words. Nothing without four eyes. */
export function raisedLimits(agreed: KeptLimits | undefined, now: KeptLimits | undefined): readonly string[] {
  if (agreed === undefined || now === undefined || !(agreed.fourEyes || now.fourEyes)) return [];
  const raised = loosenedLimits(agreed.limits, now.limits);
  return agreed.fourEyes && !now.fourEyes ? [...raised, 'four_eyes on -> off'] : raised;
}
