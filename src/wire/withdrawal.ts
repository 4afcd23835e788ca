import { z } from 'zod';
import type { Quantity } from '../core/money.ts';
import { numberOf, wireId, wireQuantity } from './message.ts';

/** Withdrawals and their fees. */

/** 1 or true: wire; 0 or false: ACH. Spec: "boolean/flag". */
const wireFlag = z
  .union([z.literal(0), z.literal(1), z.boolean()])
  .transform((value) => value === 1 || value === true);

/** Body of `POST /v1/user/withdraw`. Spec: "POST /v1/user/withdraw". */
export const withdrawalRequestSchema = z
  .object({
    currency: z.string().min(1).max(12),
    amount: wireQuantity.describe('in the currency; at least min_withdrawal of the currency list'),
    address: z.string().max(256).optional().describe('required when the currency is not usd'),
    isWire: wireFlag.optional().describe('bank method: 1 wire, 0 ACH; default: ACH'),
    memo: z.string().max(256).optional(),
  })
  .transform((body): WithdrawalRequest => ({
    currency: body.currency,
    amount: body.amount,
    address: body.address ?? '',
    isWire: body.isWire ?? false,
    memo: body.memo ?? '',
  }));

export interface WithdrawalRequest {
  readonly currency: string;
  readonly amount: Quantity;
  /** Empty for a bank withdrawal. */
  readonly address: string;
  /** For usd: true for a wire, false for ACH. */
  readonly isWire: boolean;
  readonly memo: string;
}

export interface WithdrawalResult {
  readonly success: boolean;
  readonly id: string;
  /** Account transaction id. */
  readonly atxId: string;
  /** Status code of the withdrawal; 1100 if the withdrawal has just started (from a public sample). */
  readonly txStatus: number;
  readonly currency: string;
  readonly amount: Quantity;
  /** Empty for a bank withdrawal. */
  readonly address: string;
}

/** Response of `POST /v1/user/withdraw`, status 200. Spec: "Withdrawal result". */
export const withdrawalResultSchema = z
  .object({
    success: z.boolean(),
    id: wireId.describe('text'),
    atx_id: wireId.describe('integer, account transaction id'),
    tx_status: z.int().describe('status code of the withdrawal'),
    currency: z.string(),
    amount: wireQuantity.describe('in the currency'),
    address: z.string().nullish(),
  })
  .transform((body): WithdrawalResult => ({
    success: body.success,
    id: body.id,
    atxId: body.atx_id,
    txStatus: body.tx_status,
    currency: body.currency,
    amount: body.amount,
    address: body.address ?? '',
  }));

export const withdrawalResultBody = (result: WithdrawalResult): object => ({
  success: result.success,
  id: result.id,
  atx_id: Number(result.atxId),
  tx_status: result.txStatus,
  currency: result.currency,
  amount: numberOf(result.amount),
  address: result.address,
});

/** Response of `GET /v1/withdraw-fee/:currency`. Spec: the fee is in units of the currency. */
export const withdrawFeeSchema = z.object({ fee: wireQuantity.describe('in the currency') });
export const withdrawFeeBody = (fee: Quantity): object => ({ fee: numberOf(fee) });

/** Query parameter `channel` of the fee route, for usd wires. The specification shows `international`. */
export const feeChannels = ['domestic', 'international'] as const;
export type FeeChannel = (typeof feeChannels)[number];
