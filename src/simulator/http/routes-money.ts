import { z } from 'zod';
import { decimalsOf } from '../../core/money.ts';
import { venueRoutes } from '../../wire/routes.ts';
import type { RouteName } from '../../wire/routes.ts';
import { userTokenBody, walletTransferResultBody } from '../../wire/transfers.ts';
import type { DepositAddress } from '../../wire/transfers.ts';
import { withdrawalResultBody, withdrawFeeBody } from '../../wire/withdrawal.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { uuidOf } from '../exchange/quotes.ts';
import { assumed, created, found } from './reply.ts';
import type { Reply } from './reply.ts';
import { as, askerOf, id, withBody, withPath, withQuery } from './route.ts';
import type { Answer, Call } from './route.ts';

const currencyPath = z.object({ currency: z.string().min(1).max(12) });
const userPath = z.object({ user_id: id });

/** Handlers of deposits, withdrawals, transfers, and the tokens of a partner's users. */
export const moneyAnswers = {
  withdrawFee: withPath(currencyPath, (exchange, { currency }, call) =>
    withQuery(venueRoutes.withdrawFee.query, (_, { channel }) =>
      as(exchange.withdrawals.fee(currency, channel), withdrawFeeBody),
    )(exchange, call),
  ),
  withdraw: withBody(venueRoutes.withdraw.body, (exchange, asked, call) =>
    as(exchange.withdrawals.withdraw(askerOf(call), asked, call.now), withdrawalResultBody),
  ),
  depositAddresses: withPath(currencyPath, (exchange, { currency }, call) =>
    as(depositAddress(exchange, currency, call), (address) => [address]),
  ),
  newDepositAddress: withPath(currencyPath, (exchange, { currency }, call) =>
    depositAddress(exchange, currency, call),
  ),
  bankDeposit: withBody(venueRoutes.bankDeposit.body, (exchange, { amount }, call) => {
    if (!amount.gt(0)) return assumed.invalidSize('amount must be above zero');
    if (decimalsOf(amount) > 2) return assumed.invalidSize('amount has more than the 2 decimals of usd');
    const { account, user } = askerOf(call);
    exchange.startDeposit(account, { currency: 'usd', amount, from: 'ACH', by: user }, call.now);
    return found({ tx_status: 0, success: true });
  }),
  walletTransfer: withBody(venueRoutes.walletTransfer.body, (exchange, asked, { account }) =>
    as(exchange.wallets.transfer(account, asked), (ids) => walletTransferResultBody(asked, ids)),
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

/** The deposit address of an account and currency. It is derived from both, so that it need not be stored. */
function depositAddress(exchange: Exchange, currency: string, { account }: Call): Reply<DepositAddress> {
  const known = exchange.market.currencies.get(currency);
  if (known === undefined) return assumed.unknownCurrency(currency);
  if (known.isFiat || !known.canDeposit) return assumed.notDepositable(currency);
  const address = uuidOf(`deposit ${exchange.options.seed} ${account} ${currency}`).replaceAll('-', '');
  return found({ address: `sim-${currency}-${address}`, currency });
}
