import { z } from 'zod';
import {
  approvalRequestBody,
  approvalRuleBody,
  approvalRulesBody,
  whitelistBody,
  whitelistedAddressBody,
} from '../../wire/custody.ts';
import { venueRoutes } from '../../wire/routes.ts';
import type { RouteName } from '../../wire/routes.ts';
import { found } from './reply.ts';
import { as, askerOf, id, withBody, withPath, withQuery } from './route.ts';
import type { Answer } from './route.ts';

const rulePath = z.object({ rule_id: id });
const requestPath = z.object({ request_id: id });
const addressPath = z.object({ address_id: id });

/** Handlers of approval rules, approval requests and the whitelist. */
export const custodyAnswers = {
  approvalRules: (exchange, { account }) => as(exchange.custody.list(account), approvalRulesBody),
  addRule: withBody(venueRoutes.addRule.body, (exchange, asked, call) => {
    const { rule_type: ruleType, required_approvals: requiredApprovals, threshold } = asked;
    const rule = { ruleType, requiredApprovals, threshold };
    return as(exchange.custody.add(askerOf(call), rule, call.now), approvalRuleBody);
  }),
  changeRule: withPath(rulePath, (exchange, path, call) =>
    withBody(venueRoutes.changeRule.body, (_, asked) => {
      const { required_approvals: requiredApprovals, threshold } = asked;
      const change = {
        ...(requiredApprovals === undefined ? {} : { requiredApprovals }),
        ...(threshold === undefined ? {} : { threshold }),
      };
      return as(
        exchange.custody.change(askerOf(call), { id: path.rule_id, change }, call.now),
        approvalRuleBody,
      );
    })(exchange, call),
  ),
  approvals: withQuery(venueRoutes.approvals.query, (exchange, asked, { account }) =>
    as(exchange.custody.requestsOf(account, asked), (all) => all.map(approvalRequestBody)),
  ),
  answerApproval: withPath(requestPath, (exchange, path, call) =>
    withBody(venueRoutes.answerApproval.body, (_, { approve: approved }) =>
      exchange.custody.answer(askerOf(call), { id: path.request_id, approved }, call.now),
    )(exchange, call),
  ),
  whitelist: (exchange, { account, now }) => found(whitelistBody(exchange.whitelist.list(account, now))),
  addAddress: withBody(venueRoutes.addAddress.body, (exchange, asked, { account, now }) => {
    const { currency_symbol: currency, address, alias = '' } = asked;
    return as(exchange.whitelist.add(account, { currency, address, alias }, now), whitelistedAddressBody);
  }),
  removeAddress: withPath(addressPath, (exchange, path, { account }) =>
    exchange.whitelist.remove(account, path.address_id),
  ),
} satisfies Partial<Record<RouteName, Answer>>;
