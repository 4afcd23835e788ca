import { z } from 'zod';
import {
  approvalAnswerSchema,
  approvalRequestBody,
  approvalRequestsSchema,
  approvalRuleBody,
  approvalRuleSchema,
  approvalRulesBody,
  approvalRulesSchema,
  emptySchema,
  newAddressSchema,
  newRuleSchema,
  ruleChangeSchema,
  whitelistBody,
  whitelistedAddressBody,
  whitelistedAddressSchema,
  whitelistSchema,
} from '../../wire/custody.ts';
import { found } from './reply.ts';
import { as, askerOf, bodyAs, extra, id, readAs, spec } from './route.ts';
import type { Route } from './route.ts';

const rulePath = z.object({ rule_id: id });
const requestPath = z.object({ request_id: id });
const addressPath = z.object({ address_id: id });
const requestsQuery = z.object({
  pending: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .default(false),
});

/** Approval rules, requests for approval and the whitelist. */
export const custodyRoutes: readonly Route[] = [
  {
    ...spec,
    method: 'GET',
    path: '/v1/approval-rules',
    summary: 'Approval rules',
    reply: { status: 200, schema: approvalRulesSchema },
    answer: (exchange, { account }) => as(exchange.custody.list(account), approvalRulesBody),
  },
  {
    ...extra,
    method: 'POST',
    path: '/v1/approval-rules',
    summary: 'Add an approval rule',
    body: newRuleSchema,
    reply: { status: 200, schema: approvalRuleSchema },
    answer(exchange, call) {
      const asked = bodyAs(newRuleSchema, call);
      if (!asked.ok) return asked;
      const { rule_type: ruleType, required_approvals: requiredApprovals, threshold } = asked.value;
      const rule = { ruleType, requiredApprovals, threshold };
      return as(exchange.custody.add(askerOf(call), rule, call.now), approvalRuleBody);
    },
  },
  {
    ...extra,
    method: 'PATCH',
    path: '/v1/approval-rules/:rule_id',
    summary: 'Change an approval rule',
    body: ruleChangeSchema,
    reply: { status: 200, schema: approvalRuleSchema },
    answer(exchange, call) {
      const path = readAs(rulePath, () => call.params);
      if (!path.ok) return path;
      const asked = bodyAs(ruleChangeSchema, call);
      if (!asked.ok) return asked;
      const { required_approvals: requiredApprovals, threshold } = asked.value;
      const change = {
        ...(requiredApprovals === undefined ? {} : { requiredApprovals }),
        ...(threshold === undefined ? {} : { threshold }),
      };
      return as(
        exchange.custody.change(askerOf(call), { id: path.value.rule_id, change }, call.now),
        approvalRuleBody,
      );
    },
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/approvals',
    summary: 'Requests for approval, newest first',
    query: requestsQuery,
    reply: { status: 200, schema: approvalRequestsSchema },
    answer(exchange, { account, query }) {
      const asked = readAs(requestsQuery, () => query);
      if (!asked.ok) return asked;
      return as(exchange.custody.requestsOf(account, asked.value), (all) => all.map(approvalRequestBody));
    },
  },
  {
    ...extra,
    method: 'POST',
    path: '/v1/approvals/:request_id',
    summary: 'Approve or refuse',
    body: approvalAnswerSchema,
    reply: { status: 200, schema: emptySchema },
    answer(exchange, call) {
      const path = readAs(requestPath, () => call.params);
      if (!path.ok) return path;
      const asked = bodyAs(approvalAnswerSchema, call);
      if (!asked.ok) return asked;
      const answer = { id: path.value.request_id, approved: asked.value.approve };
      return exchange.custody.answer(askerOf(call), answer, call.now);
    },
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/whitelisted-addresses',
    summary: 'Addresses that may be withdrawn to',
    reply: { status: 200, schema: whitelistSchema },
    answer: (exchange, { account, now }) => found(whitelistBody(exchange.whitelist.list(account, now))),
  },
  {
    ...extra,
    method: 'POST',
    path: '/v1/whitelisted-addresses',
    summary: 'Add an address',
    body: newAddressSchema,
    reply: { status: 200, schema: whitelistedAddressSchema },
    answer(exchange, call) {
      const asked = bodyAs(newAddressSchema, call);
      if (!asked.ok) return asked;
      const { currency_symbol: currency, address, alias = '' } = asked.value;
      return as(
        exchange.whitelist.add(call.account, { currency, address, alias }, call.now),
        whitelistedAddressBody,
      );
    },
  },
  {
    ...spec,
    method: 'DELETE',
    path: '/v1/whitelisted-addresses/:address_id',
    summary: 'Remove an address',
    reply: { status: 200, schema: emptySchema },
    answer(exchange, { account, params }) {
      const path = readAs(addressPath, () => params);
      return path.ok ? exchange.whitelist.remove(account, path.value.address_id) : path;
    },
  },
];
