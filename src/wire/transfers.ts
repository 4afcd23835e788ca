import { z } from 'zod';
import { text } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { textQuantity, wireId, wireIso, wireQuantity } from './message.ts';

/** Deposits, transfers between wallets, and tokens of a partner's users. Source: public documentation. */

export interface DepositAddress {
  readonly address: string;
  readonly currency: string;
}
const depositAddressSchema = z.object({ address: z.string(), currency: z.string() });

/** `GET /v1/user/deposit/address/:currency`: a list. One published client expects an object keyed by currency. */
export const depositAddressesSchema = z.union([
  z.array(depositAddressSchema),
  z
    .record(z.string(), z.string())
    .transform((all): readonly DepositAddress[] =>
      Object.entries(all).map(([currency, address]) => ({ address, currency })),
    ),
]);
/** Response of `POST /v1/user/deposit/address/:currency`. */
export const newDepositAddressSchema = depositAddressSchema;

/** Body and response of `POST /v1/user/bank/deposit`: usd, by ACH. */
export const bankDepositSchema = z.object({ amount: wireQuantity.describe('USD') });
export const bankDepositResultSchema = z.object({ tx_status: z.int(), success: z.boolean() });

export const wallets = ['trading', 'collateral'] as const;
export type Wallet = (typeof wallets)[number];
export interface WalletTransfer {
  readonly currency: string;
  readonly quantity: Quantity;
  readonly from: Wallet;
  readonly to: Wallet;
}

/** Body of `POST /v1/account/transfer`. The quantity is a string. */
export const walletTransferSchema = z
  .object({
    currency: z.string().min(1).max(12),
    quantity: textQuantity.describe('in the currency, as a string'),
    from_wallet: z.enum(wallets),
    to_wallet: z.enum(wallets),
  })
  .refine((body) => body.from_wallet !== body.to_wallet, { error: 'from_wallet and to_wallet must differ' })
  .transform((body): WalletTransfer => ({
    currency: body.currency,
    quantity: body.quantity,
    from: body.from_wallet,
    to: body.to_wallet,
  }));

/** Response of `POST /v1/account/transfer`. */
export const walletTransferResultSchema = z.object({
  from_transaction_id: wireId,
  to_transaction_id: wireId,
  currency: z.string(),
  quantity: textQuantity,
  from_wallet: z.string(),
  to_wallet: z.string(),
});

export const walletTransferResultBody = (
  { currency, quantity, from, to }: WalletTransfer,
  ids: { readonly from: string; readonly to: string },
): object => ({
  from_transaction_id: Number(ids.from),
  to_transaction_id: Number(ids.to),
  currency,
  quantity: text(quantity),
  from_wallet: from,
  to_wallet: to,
});

/** A token that lets a partner act for one of its users. */
export interface UserToken {
  /** 64 hexadecimal characters in a sample. */
  readonly token: string;
  readonly userId: string;
  /** 24 hours after creation. */
  readonly expiresAt: Instant;
}
const userTokenSchema = z
  .object({ token: z.string().min(1), partner_user_id: z.string(), expires: wireIso })
  .transform((row): UserToken => ({ token: row.token, userId: row.partner_user_id, expiresAt: row.expires }));
/** Response of `POST /v1/enterprise/user-tokens/:user_id`, status 201. */
export const newUserTokenSchema = z.object({ data: userTokenSchema });
/** Body and response of `POST /v1/enterprise/user-tokens`, status 201. */
export const userTokensRequestSchema = z.object({
  data: z.array(z.string().min(1).max(128)).min(1).max(100),
});
export const newUserTokensSchema = z.object({ data: z.array(userTokenSchema) });
export const userTokenBody = ({ token, userId, expiresAt }: UserToken): object => ({
  token,
  partner_user_id: userId,
  expires: isoOf(expiresAt),
});
