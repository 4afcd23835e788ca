import { z } from 'zod';
import { requestKinds } from '../../core/approvals/approval-settings.ts';
import { count, list, page, paging, time } from './schema-parts.ts';

/** Schemas of requests for approval. */

const state = z.enum(['open', 'approved', 'rejected', 'expired', 'used']);

export const query = {
  state: state.optional().describe('Only requests in this state'),
  ...paging,
};

export const approvals = page(
  z.strictObject({
    id: z.string(),
    hash: z
      .string()
      .describe('SHA-256 of `request`, in hexadecimal: an approval names it, and a passkey signs it'),
    kind: z.enum(requestKinds),
    state,
    asks: z.string().describe('The request in words'),
    difference: list(z.string()).optional().describe('The changes, one per line'),
    strategy: z.string().optional(),
    parent: z.string().optional(),
    request: z.string().describe('The canonical request, as JSON text'),
    proposed_by: z.string(),
    why: z.string(),
    proposed_at: time,
    expires_at: time.describe('When the request expires'),
    count: count.describe('Number of different people who must approve; the requester never counts'),
    passkey: z.literal('required').optional().describe('An approval needs the signature of a passkey'),
    approved_by: list(z.string()),
    ended_by: z.string().optional(),
    ended_why: z.string().optional(),
    used_by: z.string().optional(),
    may_i: z.string().describe('Whether the caller may approve it: `yes`, or `no:` and the reason'),
    may_reject: z.string().describe('Whether the caller may reject it'),
  }),
);
