import { z } from 'zod';
import type { Money } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { numberOf, wireId, wireIso, wireMoney } from './message.ts';

/** Approval rules and whitelisted addresses. */

export interface ApprovalRule {
  readonly id: string;
  readonly availableApprovers: number;
  readonly addedAt: Instant;
  readonly requiredApprovals: number;
  /** `WITHDRAW` (specification); `ADD_ALTER_COLL` and `ALTER_SAFE` (public documentation). */
  readonly ruleType: string;
  /** `Pending Approval` (specification) or `Pending` (a public sample); other values are not documented. */
  readonly status: string;
  /** USD above which approvals are needed; `undefined` when the rule has no threshold. Source of the unit: public documentation. */
  readonly threshold: Money | undefined;
}

/** Spec: "Approval rule". */
const approvalRuleSchema = z
  .object({
    id: wireId.describe('integer'),
    available_approver_count: z.int().nonnegative(),
    date_added: wireIso,
    required_approvals: z.int().nonnegative(),
    rule_type: z.string().describe('WITHDRAW, ADD_ALTER_COLL, ALTER_SAFE'),
    status: z.string().describe('Pending Approval; other values are not documented'),
    threshold: wireMoney.nullish().describe('USD above which approvals are needed'),
  })
  .transform((row): ApprovalRule => ({
    id: row.id,
    availableApprovers: row.available_approver_count,
    addedAt: row.date_added,
    requiredApprovals: row.required_approvals,
    ruleType: row.rule_type,
    status: row.status,
    threshold: row.threshold ?? undefined,
  }));

/** `GET /v1/approval-rules`. */
export const approvalRulesSchema = z.object({ data: z.array(approvalRuleSchema) });

const approvalRuleBody = (rule: ApprovalRule): object => ({
  id: Number(rule.id),
  available_approver_count: rule.availableApprovers,
  date_added: isoOf(rule.addedAt),
  required_approvals: rule.requiredApprovals,
  rule_type: rule.ruleType,
  status: rule.status,
  threshold: rule.threshold === undefined ? null : numberOf(rule.threshold),
});
export const approvalRulesBody = (rules: readonly ApprovalRule[]): object => ({
  data: rules.map(approvalRuleBody),
});

/** Response of `DELETE /v1/whitelisted-addresses/:address_id`. */
export const emptySchema = z.object({});
