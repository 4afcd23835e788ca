import { z } from 'zod';
import { approvalRulesBody } from '../../wire/custody.ts';
import { venueRoutes } from '../../wire/routes.ts';
import type { RouteName } from '../../wire/routes.ts';
import { userTokenBody } from '../../wire/user-tokens.ts';
import { withdrawalResultBody, withdrawFeeBody } from '../../wire/withdrawal.ts';
import { created } from './reply.ts';
import { as, id, withBody, withPath, withQuery } from './route.ts';
import type { Answer } from './route.ts';

const currencyPath = z.object({ currency: z.string().min(1).max(12) });
const userPath = z.object({ user_id: id });
const addressPath = z.object({ address_id: id });

/** Handlers of withdrawals, custody, and the tokens of a partner's users. */
export const moneyAnswers = {
  withdrawFee: withPath(currencyPath, (exchange, { currency }, call) =>
    withQuery(venueRoutes.withdrawFee.query, (_, { channel }) =>
      as(exchange.withdrawals.fee(currency, channel), withdrawFeeBody),
    )(exchange, call),
  ),
  withdraw: withBody(venueRoutes.withdraw.body, (exchange, asked, { account, now }) =>
    as(exchange.withdrawals.withdraw(account, asked, now), withdrawalResultBody),
  ),
  approvalRules: (exchange, { account }) => as(exchange.custody.list(account), approvalRulesBody),
  removeAddress: withPath(addressPath, (exchange, path, { account }) =>
    exchange.custody.removeAddress(account, path.address_id),
  ),
  userToken: withPath(userPath, (exchange, path, { account, now }) =>
    as(exchange.access.issue(account, path.user_id, now), (issued) => ({ data: userTokenBody(issued) })),
  ),
  userTokens: withBody(venueRoutes.userTokens.body, (exchange, { data: users }, { account, now }) => {
    const unknown = exchange.access.refusal(account, users);
    if (unknown !== undefined) return unknown;
    const issued = users.map((user) => exchange.access.issue(account, user, now));
    return created({ data: issued.flatMap((each) => (each.ok ? [userTokenBody(each.value)] : [])) });
  }),
} satisfies Partial<Record<RouteName, Answer>>;
