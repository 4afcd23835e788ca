import { z } from 'zod';
import type { Money, Quantity } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { numberOf, wireId, wireIso, wireMoney, wireQuantity } from './message.ts';

/** Approval rules, requests for approval and whitelisted addresses. */

/**
 * Types of rules. `WITHDRAW`: withdrawals; `ADD_ALTER_COLL`: users; `ALTER_SAFE`: rules. The specification shows the first, the
 * public documentation the others.
 */
export const ruleTypes = ['WITHDRAW', 'ADD_ALTER_COLL', 'ALTER_SAFE'] as const;
export type RuleType = (typeof ruleTypes)[number];

export interface ApprovalRule {
  readonly id: string;
  readonly availableApprovers: number;
  readonly addedAt: Instant;
  readonly requiredApprovals: number;
  /** One of `ruleTypes`, or a type that this program does not know. */
  readonly ruleType: string;
  /** `Pending Approval` (specification) or `Pending` (a public sample); other values are not documented. */
  readonly status: string;
  /** USD above which approvals are needed; `undefined` when the rule has no threshold. Source of the unit: public documentation. */
  readonly threshold: Money | undefined;
}

/** Spec: "Approval rule". */
export const approvalRuleSchema = z
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

export const approvalRuleBody = (rule: ApprovalRule): object => ({
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

const approvals = z.int().min(1).max(100).describe('number of approvers who must agree');

/** Body of `POST /v1/approval-rules`. Source: public documentation. */
export const newRuleSchema = z
  .object({
    rule_type: z.enum(ruleTypes),
    required_approvals: approvals,
    threshold: wireMoney.optional().describe('USD; required for WITHDRAW'),
  })
  .refine(({ rule_type: type, threshold }) => type !== 'WITHDRAW' || threshold !== undefined, {
    error: 'WITHDRAW needs a threshold',
    path: ['threshold'],
  });
export const newRuleBody = (rule: {
  readonly ruleType: RuleType;
  readonly requiredApprovals: number;
  readonly threshold?: Money | undefined;
}): string =>
  JSON.stringify({
    rule_type: rule.ruleType,
    required_approvals: rule.requiredApprovals,
    threshold: rule.threshold === undefined ? undefined : numberOf(rule.threshold),
  });

/** Body of `PATCH /v1/approval-rules/:rule_id`. Source: public documentation. */
export const ruleChangeSchema = z
  .object({ required_approvals: approvals.optional(), threshold: wireMoney.optional().describe('USD') })
  .refine((body) => body.required_approvals !== undefined || body.threshold !== undefined, {
    error: 'expected required_approvals or threshold',
  });
export const ruleChangeBody = (change: {
  readonly requiredApprovals?: number | undefined;
  readonly threshold?: Money | undefined;
}): string =>
  JSON.stringify({
    required_approvals: change.requiredApprovals,
    threshold: change.threshold === undefined ? undefined : numberOf(change.threshold),
  });

export interface ApprovalRequest {
  readonly id: string;
  readonly requestedBy: string;
  readonly addedAt: Instant;
  readonly status: string;
  /** One of the rule types. */
  readonly approvalType: string;
  readonly requiredApprovals: number;
  readonly receivedApprovals: number;
  /** The subject of the request; for a rule change, only the threshold is given. */
  readonly details: {
    readonly currency: string;
    readonly amount: Quantity | undefined;
    readonly address: string;
    /** USD. */
    readonly threshold: Money | undefined;
  };
  readonly responses: readonly { readonly username: string; readonly approved: boolean }[];
}

const approvalRequestSchema = z
  .object({
    approval_id: wireId,
    requested_by_username: z.string(),
    requested_by_uaid: z.unknown().optional(),
    date_added: wireIso,
    status: z.string(),
    approval_type: z.string(),
    required_approvals: z.int().nonnegative(),
    received_approvals: z.int().nonnegative(),
    action_details: z.object({
      atx_currency_code: z.string().nullish(),
      atx_amount: wireQuantity.nullish().describe('in the currency'),
      atx_dest_address: z.string().nullish(),
      threshold: wireMoney.nullish().describe('USD'),
    }),
    approval_responses: z.array(
      z.object({ ua_display_id: z.unknown().optional(), username: z.string(), approved: z.boolean() }),
    ),
  })
  .transform((row): ApprovalRequest => ({
    id: row.approval_id,
    requestedBy: row.requested_by_username,
    addedAt: row.date_added,
    status: row.status,
    approvalType: row.approval_type,
    requiredApprovals: row.required_approvals,
    receivedApprovals: row.received_approvals,
    details: {
      currency: row.action_details.atx_currency_code ?? '',
      amount: row.action_details.atx_amount ?? undefined,
      address: row.action_details.atx_dest_address ?? '',
      threshold: row.action_details.threshold ?? undefined,
    },
    responses: row.approval_responses.map(({ username, approved }) => ({ username, approved })),
  }));

/** `GET /v1/approvals`: a list, bare or within `data`. Source: a sample in the public documentation. */
export const approvalRequestsSchema = z.union([
  z.array(approvalRequestSchema),
  z.object({ data: z.array(approvalRequestSchema) }).transform(({ data }) => data),
]);

export const approvalRequestBody = (request: ApprovalRequest): object => ({
  approval_id: Number(request.id),
  requested_by_username: request.requestedBy,
  requested_by_uaid: request.requestedBy,
  date_added: isoOf(request.addedAt),
  status: request.status,
  approval_type: request.approvalType,
  required_approvals: request.requiredApprovals,
  received_approvals: request.receivedApprovals,
  action_details: {
    atx_currency_code: request.details.currency,
    atx_amount: request.details.amount === undefined ? null : numberOf(request.details.amount),
    atx_dest_address: request.details.address,
    threshold: request.details.threshold === undefined ? null : numberOf(request.details.threshold),
  },
  approval_responses: request.responses.map(({ username, approved }) => ({
    ua_display_id: username,
    username,
    approved,
  })),
});

/** Body of `POST /v1/approvals/:request_id`. Source: public documentation. */
export const approvalAnswerSchema = z.object({ approve: z.boolean() });
/** The venue does not document the response; the simulated venue returns an empty object. */
export const emptySchema = z.object({});

export interface WhitelistedAddress {
  /** An integer in the specification, a UUID in a public sample; treat it as opaque. */
  readonly id: string;
  readonly alias: string;
  readonly address: string;
  readonly currency: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly status: string;
}

/** Element of the whitelist, and the response to adding one. Source: public documentation. */
export const whitelistedAddressSchema = z
  .object({
    id: wireId.optional().describe('an integer in the specification, a UUID in a public sample'),
    alias: z.string().nullish(),
    address: z.string(),
    currency_symbol: z.string(),
    date_created: wireIso,
    date_updated: wireIso,
    status: z.string().describe('initially Pending'),
    tag: z.string().nullish(),
  })
  .transform((row): WhitelistedAddress => ({
    id: row.id ?? '',
    alias: row.alias ?? '',
    address: row.address,
    currency: row.currency_symbol,
    createdAt: row.date_created,
    updatedAt: row.date_updated,
    status: row.status,
  }));

/** `GET /v1/whitelisted-addresses`. */
export const whitelistSchema = z.object({ data: z.array(whitelistedAddressSchema) });

export const whitelistedAddressBody = (row: WhitelistedAddress): object => ({
  id: /^\d{1,15}$/u.test(row.id) ? Number(row.id) : row.id,
  alias: row.alias,
  address: row.address,
  currency_symbol: row.currency,
  date_created: isoOf(row.createdAt),
  date_updated: isoOf(row.updatedAt),
  status: row.status,
  tag: null,
});
export const whitelistBody = (rows: readonly WhitelistedAddress[]): object => ({
  data: rows.map(whitelistedAddressBody),
});

/** Body of `POST /v1/whitelisted-addresses`. Source: public documentation. */
export const newAddressSchema = z.object({
  currency_symbol: z.string().min(1).max(12),
  address: z.string().min(1).max(256),
  alias: z.string().max(128).optional(),
});
export const newAddressBody = (address: {
  readonly currency: string;
  readonly address: string;
  readonly alias?: string | undefined;
}): string =>
  JSON.stringify({ currency_symbol: address.currency, address: address.address, alias: address.alias });
