import { z } from 'zod';
import { decimalsOf } from '../../core/money.ts';
import {
  bankDepositResultSchema,
  bankDepositSchema,
  depositAddressesSchema,
  newDepositAddressSchema,
  newUserTokenSchema,
  newUserTokensSchema,
  userTokenBody,
  userTokensRequestSchema,
  walletTransferResultBody,
  walletTransferResultSchema,
  walletTransferSchema,
} from '../../wire/transfers.ts';
import type { DepositAddress } from '../../wire/transfers.ts';
import {
  feeChannels,
  withdrawalRequestSchema,
  withdrawalResultBody,
  withdrawalResultSchema,
  withdrawFeeBody,
  withdrawFeeSchema,
} from '../../wire/withdrawal.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { uuidOf } from '../exchange/quotes.ts';
import { assumed, created, found } from './reply.ts';
import type { Reply } from './reply.ts';
import { as, askerOf, bodyAs, extra, id, readAs, spec } from './route.ts';
import type { Call, Route } from './route.ts';

const currencyPath = z.object({ currency: z.string().min(1).max(12) });
const userPath = z.object({ user_id: id });
const feeQuery = z.object({ channel: z.enum(feeChannels).optional() });

/** Money in and out, and the tokens of a partner's users. */
export const moneyRoutes: readonly Route[] = [
  {
    ...spec,
    method: 'GET',
    path: '/v1/withdraw-fee/:currency',
    summary: 'Fee of a withdrawal, in the currency',
    query: feeQuery,
    reply: { status: 200, schema: withdrawFeeSchema },
    answer(exchange, { params, query }) {
      const path = readAs(currencyPath, () => params);
      if (!path.ok) return path;
      const asked = readAs(feeQuery, () => query);
      if (!asked.ok) return asked;
      return as(exchange.withdrawals.fee(path.value.currency, asked.value.channel), withdrawFeeBody);
    },
  },
  {
    ...spec,
    method: 'POST',
    path: '/v1/user/withdraw',
    summary: 'Withdraw to an address, by wire or by ACH',
    body: withdrawalRequestSchema,
    reply: { status: 200, schema: withdrawalResultSchema },
    answer(exchange, call) {
      const asked = bodyAs(withdrawalRequestSchema, call);
      if (!asked.ok) return asked;
      return as(exchange.withdrawals.withdraw(askerOf(call), asked.value, call.now), withdrawalResultBody);
    },
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/user/deposit/address/:currency',
    summary: 'Addresses to deposit to',
    reply: { status: 200, schema: depositAddressesSchema },
    answer: (exchange, call) => as(depositAddress(exchange, call), (address) => [address]),
  },
  {
    ...extra,
    method: 'POST',
    path: '/v1/user/deposit/address/:currency',
    summary: 'An address to deposit to',
    reply: { status: 200, schema: newDepositAddressSchema },
    answer: depositAddress,
  },
  {
    ...extra,
    method: 'POST',
    path: '/v1/user/bank/deposit',
    summary: 'Deposit usd from the linked bank account, by ACH',
    body: bankDepositSchema,
    reply: { status: 200, schema: bankDepositResultSchema },
    answer(exchange, call) {
      const asked = bodyAs(bankDepositSchema, call);
      if (!asked.ok) return asked;
      const { amount } = asked.value;
      if (!amount.gt(0)) return assumed.invalidSize('amount must be above zero');
      if (decimalsOf(amount) > 2) return assumed.invalidSize('amount has more than the 2 decimals of usd');
      const { account, user } = askerOf(call);
      exchange.startDeposit(account, { currency: 'usd', amount, from: 'ACH', by: user }, call.now);
      return found({ tx_status: 0, success: true });
    },
  },
  {
    ...extra,
    method: 'POST',
    path: '/v1/account/transfer',
    summary: 'Move money between the trading and the collateral wallet',
    body: walletTransferSchema,
    reply: { status: 200, schema: walletTransferResultSchema },
    answer(exchange, call) {
      const asked = bodyAs(walletTransferSchema, call);
      if (!asked.ok) return asked;
      return as(exchange.wallets.transfer(call.account, asked.value), (ids) =>
        walletTransferResultBody(asked.value, ids),
      );
    },
  },
  {
    ...extra,
    method: 'POST',
    path: '/v1/enterprise/user-tokens/:user_id',
    summary: 'A token for a user of the partner, for 24 hours',
    reply: { status: 201, schema: newUserTokenSchema },
    answer(exchange, { account, params, now }) {
      const path = readAs(userPath, () => params);
      if (!path.ok) return path;
      const token = exchange.access.issue(account, path.value.user_id, now);
      return as(token, (issued) => ({ data: userTokenBody(issued) }));
    },
  },
  {
    ...extra,
    method: 'POST',
    path: '/v1/enterprise/user-tokens',
    summary: 'Tokens for several users of the partner',
    body: userTokensRequestSchema,
    reply: { status: 201, schema: newUserTokensSchema },
    answer(exchange, call) {
      const asked = bodyAs(userTokensRequestSchema, call);
      if (!asked.ok) return asked;
      const unknown = exchange.access.refusal(call.account, asked.value.data);
      if (unknown !== undefined) return unknown;
      const issued = asked.value.data.map((user) => exchange.access.issue(call.account, user, call.now));
      return created({ data: issued.flatMap((each) => (each.ok ? [userTokenBody(each.value)] : [])) });
    },
  },
];

/** The one address of an account and a currency: a function of both, so that nothing has to be kept. */
function depositAddress(exchange: Exchange, { account, params }: Call): Reply<DepositAddress> {
  const path = readAs(currencyPath, () => params);
  if (!path.ok) return path;
  const { currency } = path.value;
  const known = exchange.market.currencies.get(currency);
  if (known === undefined) return assumed.unknownCurrency(currency);
  if (known.isFiat || !known.canDeposit) return assumed.notDepositable(currency);
  const address = uuidOf(`deposit ${exchange.options.seed} ${account} ${currency}`).replaceAll('-', '');
  return found({ address: `sim-${currency}-${address}`, currency });
}
