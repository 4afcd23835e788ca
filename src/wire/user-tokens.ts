import { z } from 'zod';
import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { wireIso } from './message.ts';

/** Tokens of a partner's users. Source: public documentation. */

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
