import { requestHash } from '../../src/core/approvals/requests.ts';
import type { ApprovalRecord, RecordBody, StoredRecord } from '../../src/core/record.ts';
import { ApprovalsProof } from '../../src/journal/proof/approvals-proof.ts';

/** Journals changed as by anyone who can write them, and what the proof of approvals finds in them. */

type Records = readonly StoredRecord[];
type Picks = (body: RecordBody) => boolean;

export function findingsIn(records: Records): ApprovalsProof['findings'] {
  const proof = new ApprovalsProof();
  for (const stored of records) proof.take(stored);
  return proof.findings;
}

/** As `record: fault`. */
export const faultsIn = (records: Records): readonly string[] =>
  findingsIn(records).flatMap(({ seq, fault }) => (fault === undefined ? [] : [`${seq}: ${fault}`]));

export const changed = (
  records: Records,
  change: (body: RecordBody) => object | undefined,
): readonly StoredRecord[] =>
  records.flatMap((stored) => {
    const body = change(stored.body);
    return body === undefined ? [] : [{ ...stored, body: body as RecordBody }];
  });

/** Some records with other fields. */
export const patched = (records: Records, isIt: Picks, over: object): readonly StoredRecord[] =>
  changed(records, (body) => (isIt(body) ? { ...body, ...over } : body));

export const without = (records: Records, isIt: Picks): readonly StoredRecord[] =>
  changed(records, (body) => (isIt(body) ? undefined : body));

/** The journal with another record before the first of some. */
export function withBefore(records: Records, isIt: Picks, body: RecordBody): readonly StoredRecord[] {
  const at = records.findIndex((one) => isIt(one.body));
  const there = records[at];
  if (there === undefined) throw new Error('no such record');
  return [...records.slice(0, at), { ...there, body }, ...records.slice(at)];
}

/** Changes every record of a request in the same way and gives them the hash of the changed proposal. */
export function rehashed(
  records: Records,
  change: (body: ApprovalRecord) => ApprovalRecord,
  isOf: (body: ApprovalRecord) => boolean = () => true,
): readonly StoredRecord[] {
  const start = records.map(({ body }) => body).find(({ kind }) => kind === 'started');
  const origin = start?.kind === 'started' ? start : { desk: '', account: '' };
  let hash = '';
  return changed(records, (body) => {
    if (body.kind !== 'approval' || !isOf(body)) return body;
    const now = change(body);
    if (now.step === 'proposed') hash = requestHash(now, origin);
    return { ...now, hash };
  });
}
