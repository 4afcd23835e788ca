import { describe, expect, it } from 'vitest';
import type { ApprovalSettings } from '../../src/core/approvals/approval-settings.ts';
import type { PasskeyAssertion } from '../../src/core/approvals/passkey-assertion.ts';
import type { ApprovalRecord, RecordBody, StoredRecord } from '../../src/core/record.ts';
import { DAY_MS, instant } from '../../src/core/time.ts';
import { aDesk, approve, halted, nextDesk, person, tell } from '../engine/approval-desk.ts';
import type { Bench } from '../engine/harness.ts';
import { aPasskey } from '../operate/sign-in/soft-passkey.ts';
import type { SoftPasskey } from '../operate/sign-in/soft-passkey.ts';
import { changed, faultsIn, findingsIn, patched, rehashed, without } from './forgery.ts';

const approvals: ApprovalSettings = { for: ['rearm', 'strategy'], count: 2, passkey: 'required' };

const HOME = { origin: 'https://tranche.example', rp_id: 'tranche.example' };

const signed = (passkey: SoftPasskey, hash: string): PasskeyAssertion => {
  const challenge = Buffer.from(hash, 'hex').toString('base64url');
  const made = passkey.assert({ challenge, origin: 'https://tranche.example', rpId: 'tranche.example' }) as {
    id: string;
    response: { authenticatorData: string; clientDataJSON: string; signature: string };
  };
  const { authenticatorData, clientDataJSON, signature } = made.response;
  return {
    credential_id: made.id,
    authenticator_data: authenticatorData,
    client_data_json: clientDataJSON,
    signature,
  };
};

/** A strategy that began with three approvals, and a halt that two people lifted: four people with passkeys. */
function aJournal(): readonly StoredRecord[] {
  const keys = { ann: aPasskey(), bob: aPasskey(), cat: aPasskey() };
  const bench = aDesk(approvals);
  for (const [name, { id, publicKey }] of Object.entries(keys))
    for (const step of ['invited', 'enrolled'] as const) {
      const passkey =
        step === 'enrolled' ? { passkey: { id, public_key: publicKey, counter: 0, ...HOME } } : {};
      const record = {
        kind: 'person',
        person: name,
        step,
        role: 'approver',
        by: 'local (cli:root)',
        why: 'w',
        ...(step === 'invited' ? { token: { name: 'local', kind: 'machine' } } : {}),
        ...passkey,
      };
      tell(bench, 'root', { do: 'person', record });
    }
  const signs = (of: Bench, name: keyof typeof keys, id: string): void => {
    const hash = of.desk.state.approvals.get(id)?.proposal.hash ?? '';
    expect(approve(of, name, id, { hash, assertion: signed(keys[name], hash) }).isDone).toBe(true);
  };
  for (const name of ['ann', 'bob', 'cat'] as const) signs(bench, name, 'ap-1');
  const next = nextDesk(bench, approvals);
  halted(next);
  for (const name of ['ann', 'cat'] as const) signs(next, name, 'ap-2');
  return next.records();
}

const whole = aJournal();
const bare = ({ passkey: _passkey, assertion: _assertion, ...body }: ApprovalRecord): ApprovalRecord => body;
const waiting = (body: ApprovalRecord): ApprovalRecord => ({
  ...body,
  expires_at: instant(body.expires_at + DAY_MS),
});
const strict = { ...approvals, count: 3 };
const isStart = ({ kind }: RecordBody): boolean => kind === 'started';
const isStep = (body: RecordBody, step: string, by?: string): body is ApprovalRecord =>
  body.kind === 'approval' &&
  body.request === 'ap-2' &&
  body.step === step &&
  (by === undefined || body.by === by);

const findings = findingsIn;
const faults = (records: readonly StoredRecord[]): readonly (string | undefined)[] =>
  findings(records).flatMap(({ fault }) => (fault === undefined ? [] : [fault]));
const seqOf = (step: string, by?: string): number =>
  whole.find(({ body }) => isStep(body, step, by))?.seq ?? Number.NaN;
const assertionOf = (by: string): PasskeyAssertion | undefined =>
  whole.map(({ body }) => body).find((body) => isStep(body, 'approved', by))?.assertion;

const ofCat = (body: RecordBody): boolean => isStep(body, 'approved', 'cat');
const isCat = (body: RecordBody): boolean => body.kind === 'person' && body.person === 'cat';
const enrolled = (body: RecordBody): boolean => isCat(body) && 'step' in body && body.step === 'enrolled';
const isRequest = (request: string) => (body: RecordBody) =>
  body.kind === 'approval' && body.request === request;
/** The journal with another approval by cat. */
const asCat = (over: object): readonly StoredRecord[] => patched(whole, ofCat, over);
/** The journal with another passkey of cat. */
const keyed = (over: object): readonly StoredRecord[] =>
  changed(whole, (body) =>
    isCat(body) && 'passkey' in body && typeof body.passkey === 'object'
      ? { ...body, passkey: { ...body.passkey, ...over } }
      : body,
  );
const again = (change: (body: ApprovalRecord) => ApprovalRecord): readonly StoredRecord[] =>
  rehashed(whole, change, ({ request }) => request === 'ap-2');
const late = (ms: number): readonly StoredRecord[] =>
  whole.map((stored) => (ofCat(stored.body) ? { ...stored, at: instant(stored.at + ms) } : stored));
const ANN = { by: 'ann', token: person('ANN'), assertion: assertionOf('ann') };
const OTHER = aPasskey().publicKey;
const EVE = person('eve');
const signature = assertionOf('cat')?.signature ?? '';
const asksOther = { asks: 'lift another halt' };
const inspected = { ...assertionOf('cat'), signature: `A${signature.slice(1)}B` };

describe('the proof of approvals', () => {
  it('accepts the journal of a desk and lists each approval with its record number and kind of proof', () => {
    expect(whole.some(({ body }) => body.kind === 'control' && body.state === 'active')).toBe(true);
    expect(findings(whole)).toMatchObject([
      { request: 'ap-1', by: 'ann', proof: 'passkey' },
      { request: 'ap-1', by: 'bob', proof: 'passkey' },
      { request: 'ap-1', by: 'cat', proof: 'passkey' },
      { request: 'ap-2', by: 'ann', proof: 'passkey' },
      { request: 'ap-2', by: 'cat', proof: 'passkey' },
    ]);
    expect(faults(whole)).toEqual([]);
    const [first] = findings(whole);
    expect(whole.find(({ seq }) => seq === first?.seq)?.body).toMatchObject({ step: 'approved', by: 'ann' });
  });

  it.each<readonly [string, readonly StoredRecord[], string]>([
    ['an altered request', patched(whole, isRequest('ap-2'), asksOther), 'hash is not that of'],
    ['an approval of another request', asCat(asksOther), 'approves a different request'],
    ['the passkey of another person', asCat({ by: 'bob', token: person('bob') }), 'does not belong to bob'],
    ['a missing signature', asCat({ assertion: undefined }), 'this request needs a passkey'],
    ['an altered signature', asCat({ assertion: inspected }), 'signature does not match the key'],
    ['the proposer in upper case', asCat({ by: 'EVE', token: person('Eve') }), 'has proposed it'],
    ['an approval by a program', asCat({ token: { name: 'cat', kind: 'program' } }), 'cat is a program'],
    ['a halt lifted before its approval was complete', without(whole, ofCat), 'lifted without the approval'],
    ['a strategy without approval', without(whole, isRequest('ap-1')), 't began without the approval'],
    ['a replaced public key', keyed({ public_key: OTHER }), 'signature does not match the key'],
    ['the page of another desk', keyed({ origin: `${HOME.origin}:8443` }), 'has not signed in'],
    ['a signature for another host', keyed({ rp_id: 'example' }), 'was not made for this desk'],
    ['a removed person', patched(whole, enrolled, { step: 'removed' }), 'cat was removed'],
    ['a viewer', patched(whole, isCat, { role: 'viewer' }), 'the viewer role, who may not approve'],
    ['an approver invited elsewhere', patched(whole, isCat, { token: EVE }), 'on the machine of the desk'],
    ['an approval after the request had expired', late(DAY_MS), 'ap-2 has expired'],
    ['a request that waits for too long', again(waiting), 'waits for longer than a'],
    ['a request for fewer people', again((body) => ({ ...body, count: 1 })), 'demands more than ap-2 does'],
    ['a request without a passkey', again(bare), 'ap-2 does: 2 other people, each with a passkey'],
    ['laxer terms', patched(whole, isStart, { approvals: strict }), 'ap-2 does: 3 other people'],
    ['a person who approves twice', asCat(ANN), 'ANN has approved it already'],
    ['the approval of another person', asCat({ assertion: ANN.assertion }), 'does not belong to cat'],
  ])('finds %s', (_name, records, why) => {
    expect(faults(records).join('\n')).toContain(why);
  });

  it('finds an approval that was replayed on another request, with the number of its record', () => {
    // Two requests for the same halt, which differ only in their ids.
    const second = whole.flatMap((stored) => {
      const isSecond = isStep(stored.body, 'proposed') || isStep(stored.body, 'approved', 'ann');
      return isSecond ? [{ ...stored, body: { ...stored.body, request: 'ap-3' } }, stored] : [stored];
    });
    expect(
      faultsIn(
        rehashed(
          second,
          (body) => body,
          ({ request }) => request === 'ap-3',
        ),
      ),
    ).toEqual([`${seqOf('approved', 'ann')}: the approval is not valid: it signs a different request`]);
  });

  it('finds approvals copied from the journal of another desk with the same people', () => {
    const copied = patched(whole, isStart, { desk: 'other' });
    expect(faultsIn(copied)).toContain(`${seqOf('proposed')}: its hash is not that of the request`);
    // With new hashes for that desk, the signatures belong to other requests.
    const fresh = faultsIn(
      rehashed(
        copied,
        (body) => body,
        ({ request }) => request === 'ap-2',
      ),
    );
    for (const by of ['ann', 'cat'])
      expect(fresh).toContain(
        `${seqOf('approved', by)}: the approval is not valid: it signs a different request`,
      );
  });

  it.each<readonly [string, Partial<ApprovalRecord>]>([
    ['words', asksOther],
    ['subject', { subject: '0'.repeat(64) }],
    ['count', { count: 1 }],
    ['time', { expires_at: instant(9_999_999_999_999) }],
    ['proposer', { by: 'dan', token: person('dan') }],
    ['reason', { why: 'another' }],
    ['kind', { for: 'doubt' }],
    ['hash', { hash: '0'.repeat(64) }],
  ])('finds a proposal whose %s was altered, with the number of its record', (_what, altered) => {
    const proposed = patched(whole, (body) => isStep(body, 'proposed'), altered);
    expect(faultsIn(proposed)[0]).toBe(`${seqOf('proposed')}: its hash is not that of the request`);
  });

  it.each([asksOther, { count: 1 }, { hash: '0'.repeat(64) }, { for: 'strategy' }])(
    'finds an approval that was altered to %j, with the number of its record',
    (altered) => {
      const seq = seqOf('approved', 'cat');
      expect(faultsIn(asCat(altered))[0]).toBe(
        `${seq}: it approves a different request than the one proposed`,
      );
    },
  );
});
