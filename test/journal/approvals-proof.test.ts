import { describe, expect, it } from 'vitest';
import { requestHash } from '../../src/core/approvals/requests.ts';
import type { ApprovalSettings } from '../../src/core/approvals/approval-settings.ts';
import type { PasskeyAssertion } from '../../src/core/approvals/passkey-assertion.ts';
import type { ApprovalRecord, RecordBody, StoredRecord } from '../../src/core/record.ts';
import { DAY_MS, instant } from '../../src/core/time.ts';
import { ApprovalsProof } from '../../src/journal/proof/approvals-proof.ts';
import { aDesk, approve, halted, nextDesk, person, tell } from '../engine/approval-desk.ts';
import type { Bench } from '../engine/harness.ts';
import { aPasskey } from '../operate/sign-in/soft-passkey.ts';
import type { SoftPasskey } from '../operate/sign-in/soft-passkey.ts';

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
const origin = whole.flatMap(({ body }) => (body.kind === 'started' ? [body] : []))[0] ?? {
  desk: '',
  account: '',
};
/** The proposer of ap-2, whose name and reason the hash covers. */
const proposer = { by: 'eve', why: 'w', token: person('eve') };
const isStep = (body: RecordBody, step: string, by?: string): body is ApprovalRecord =>
  body.kind === 'approval' &&
  body.request === 'ap-2' &&
  body.step === step &&
  (by === undefined || body.by === by);

function proofOf(records: readonly StoredRecord[]): ApprovalsProof {
  const proof = new ApprovalsProof();
  for (const stored of records) proof.take(stored);
  return proof;
}
const findings = (records: readonly StoredRecord[]) => proofOf(records).findings;
const faults = (records: readonly StoredRecord[]): readonly (string | undefined)[] =>
  findings(records).flatMap(({ fault }) => (fault === undefined ? [] : [fault]));
/** The journal with some records changed, as by anyone who can write it. */
const forged = (change: (body: RecordBody) => RecordBody | undefined, of = whole): readonly StoredRecord[] =>
  of.flatMap((stored) => {
    const body = change(stored.body);
    return body === undefined ? [] : [{ ...stored, body }];
  });

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

  it('finds an approver who was not invited on the machine, where approvals are set', () => {
    const elsewhere = forged((body) =>
      body.kind === 'person' && body.person === 'cat' ? { ...body, token: person('eve') } : body,
    );
    expect(faults(elsewhere)).toEqual(['cat was not invited on the machine of the desk']);
  });

  it.each<readonly [string, (body: RecordBody) => RecordBody | undefined, RegExp]>([
    [
      'a request whose text was altered',
      (body) =>
        body.kind === 'approval' && body.request === 'ap-2' ? { ...body, asks: 'lift another halt' } : body,
      /its hash is not that of the request/u,
    ],
    [
      'an approval of a different request',
      (body) => (isStep(body, 'approved', 'cat') ? { ...body, asks: 'lift another halt' } : body),
      /approves a different request than the one proposed/u,
    ],
    [
      'a signature by the passkey of another person',
      (body) => (isStep(body, 'approved', 'cat') ? { ...body, by: 'bob', token: person('bob') } : body),
      /the passkey does not belong to bob/u,
    ],
    [
      'a missing signature',
      (body) => {
        if (!isStep(body, 'approved', 'cat')) return body;
        const { assertion: _assertion, ...rest } = body;
        return rest;
      },
      /this request needs a passkey/u,
    ],
    [
      'an altered signature',
      (body) =>
        isStep(body, 'approved', 'cat') && body.assertion !== undefined
          ? { ...body, assertion: { ...body.assertion, signature: `A${body.assertion.signature.slice(1)}B` } }
          : body,
      /signature does not match the key/u,
    ],
    [
      'an approval by the proposer, spelt in upper case',
      (body) => (isStep(body, 'approved', 'cat') ? { ...body, by: 'EVE', token: person('Eve') } : body),
      /EVE has proposed it|Eve has proposed it/u,
    ],
    [
      'an approval by a program',
      (body) =>
        isStep(body, 'approved', 'ann') ? { ...body, token: { name: 'ann', kind: 'program' } } : body,
      /ann is a program/u,
    ],
    [
      'a halt that was lifted before its approval was complete',
      (body) => (isStep(body, 'approved', 'cat') ? undefined : body),
      /a halt was lifted without the approval/u,
    ],
    [
      'a strategy that began without its approval',
      (body) => (body.kind === 'approval' && body.request === 'ap-1' ? undefined : body),
      /strategy t began without the approval/u,
    ],
    [
      'a replaced public key',
      (body) =>
        body.kind === 'person' && body.person === 'cat' && body.passkey !== undefined
          ? { ...body, passkey: { ...body.passkey, public_key: aPasskey().publicKey } }
          : body,
      /signature does not match the key/u,
    ],
    [
      'a signature made on the page of another desk',
      (body) =>
        body.kind === 'person' && body.person === 'cat' && body.passkey !== undefined
          ? { ...body, passkey: { ...body.passkey, origin: 'https://tranche.example:8443' } }
          : body,
      /made at https:\/\/tranche.example, where the passkey has not signed in/u,
    ],
    [
      'a signature for another host',
      (body) =>
        body.kind === 'person' && body.person === 'cat' && body.passkey !== undefined
          ? { ...body, passkey: { ...body.passkey, rp_id: 'example' } }
          : body,
      /was not made for this desk/u,
    ],
    [
      'an approval by a person who had been removed',
      (body) =>
        body.kind === 'person' && body.person === 'cat' && body.step === 'enrolled'
          ? { ...body, step: 'removed' }
          : body,
      /cat was removed, and can no longer approve/u,
    ],
    [
      'a request that may wait for longer than 15 minutes',
      (body) => {
        if (body.kind !== 'approval' || body.request !== 'ap-2') return body;
        const changed = { ...body, expires_at: instant(body.expires_at + DAY_MS) };
        return { ...changed, hash: requestHash({ ...changed, ...proposer }, origin) };
      },
      /it waits for longer than a request may/u,
    ],
  ])('finds %s', (_name, change, why) => {
    expect(faults(forged(change)).join('\n')).toMatch(why);
  });

  /** Changes every record of a request in the same way and computes its hash again, as an attacker could. */
  const rehashed = (change: (body: ApprovalRecord) => ApprovalRecord): readonly StoredRecord[] =>
    forged((body) => {
      if (body.kind !== 'approval' || body.request !== 'ap-2') return body;
      const changed = change(body);
      return { ...changed, hash: requestHash({ ...changed, ...proposer }, origin) };
    });

  it('finds a request that demands no passkey, or fewer people, although the settings in force do', () => {
    const bare = rehashed(({ passkey: _passkey, assertion: _assertion, ...body }) => body);
    expect(faults(bare)[0]).toMatch(/demands more than ap-2 does: 2 other people, each with a passkey/u);
    expect(faults(rehashed((body) => ({ ...body, count: 1 })))[0]).toMatch(/demands more than ap-2 does/u);
    const stricter = { ...approvals, count: 3 };
    const later = forged((body) => (body.kind === 'started' ? { ...body, approvals: stricter } : body));
    expect(faults(later)).toContain(
      'operate.approvals demands more than ap-2 does: 3 other people, each with a passkey',
    );
  });

  it('finds a signature by the passkey of a viewer', () => {
    const viewer = forged((body) => (body.kind === 'person' && body.person === 'cat' ? { ...body, role: 'viewer' } : body)); // prettier-ignore
    expect(new Set(faults(viewer))).toEqual(
      new Set(['the passkey belongs to a person with the viewer role, who may not approve']),
    );
  });

  it('finds an approval that was given after the request had expired', () => {
    const late = whole.map((stored) =>
      isStep(stored.body, 'approved', 'cat') ? { ...stored, at: instant(stored.at + DAY_MS) } : stored,
    );
    expect(faults(late)).toEqual(['ap-2 has expired']);
  });

  const named = (records: readonly StoredRecord[]): readonly string[] =>
    findings(records).flatMap(({ seq, fault }) => (fault === undefined ? [] : [`${seq}: ${fault}`]));
  const seqOf = (step: string, by?: string): number =>
    whole.find(({ body }) => body.kind === 'approval' && body.request === 'ap-2' && isStep(body, step, by))
      ?.seq ?? Number.NaN;
  const assertionOf = (by: string): PasskeyAssertion | undefined =>
    whole.flatMap(({ body }) => (body.kind === 'approval' && body.by === by && body.request === 'ap-2' ? [body.assertion] : []))[0]; // prettier-ignore

  it('finds an approval that was replayed on another request, with the number of its record', () => {
    // Two requests for the same halt, which differ only in their ids.
    const second = whole.flatMap((stored) => {
      const { body } = stored;
      const isSecond = isStep(body, 'proposed') || isStep(body, 'approved', 'ann');
      return isSecond ? [{ ...stored, body: { ...body, request: 'ap-3' } }, stored] : [stored];
    });
    const hashes = new Map<string, string>();
    const replayed = second.map((stored) => {
      const { body } = stored;
      if (body.kind !== 'approval' || body.request !== 'ap-3') return stored;
      if (body.step === 'proposed') hashes.set('ap-3', requestHash(body, origin));
      return { ...stored, body: { ...body, hash: hashes.get('ap-3') ?? '' } };
    });
    expect(named(replayed)).toEqual([
      `${seqOf('approved', 'ann')}: the approval is not valid: it signs a different request`,
    ]);
  });

  it('finds approvals copied from the journal of another desk with the same people', () => {
    const copied = forged((body) => (body.kind === 'started' ? { ...body, desk: 'other' } : body));
    expect(named(copied)).toContain(`${seqOf('proposed')}: its hash is not that of the request`);
    // With new hashes for that desk, the signatures belong to other requests.
    let hash = '';
    const again = copied.map((stored) => {
      const { body } = stored;
      if (body.kind !== 'approval' || body.request !== 'ap-2') return stored;
      if (body.step === 'proposed') hash = requestHash(body, { ...origin, desk: 'other' });
      return { ...stored, body: { ...body, hash } };
    });
    for (const by of ['ann', 'cat'])
      expect(named(again)).toContain(
        `${seqOf('approved', by)}: the approval is not valid: it signs a different request`,
      );
  });

  it('finds a person who approves twice, also under the name of another person', () => {
    const twice = forged((body) => (isStep(body, 'approved', 'cat') ? { ...body, by: 'ann', token: person('ANN'), assertion: assertionOf('ann') } : body)); // prettier-ignore
    expect(named(twice)[0]).toBe(`${seqOf('approved', 'cat')}: ANN has approved it already`);
    const borrowed = forged((body) => (isStep(body, 'approved', 'cat') ? { ...body, assertion: assertionOf('ann') } : body)); // prettier-ignore
    expect(named(borrowed)[0]).toMatch(
      new RegExp(`^${seqOf('approved', 'cat')}: the passkey does not belong to cat`, 'u'),
    );
  });

  it.each<readonly [string, Partial<ApprovalRecord>]>([
    ['words', { asks: 'lift another halt' }],
    ['subject', { subject: '0'.repeat(64) }],
    ['count', { count: 1 }],
    ['time', { expires_at: instant(9_999_999_999_999) }],
    ['proposer', { by: 'dan', token: person('dan') }],
    ['reason', { why: 'another' }],
    ['kind', { for: 'doubt' }],
    ['hash', { hash: '0'.repeat(64) }],
  ])('finds a proposal whose %s was altered, with the number of its record', (_what, altered) => {
    const changed = forged((body) =>
      isStep(body, 'proposed') && body.request === 'ap-2' ? { ...body, ...altered } : body,
    );
    expect(named(changed)[0]).toBe(`${seqOf('proposed')}: its hash is not that of the request`);
  });

  it.each<readonly [string, Partial<ApprovalRecord>]>([
    ['words', { asks: 'lift another halt' }],
    ['count', { count: 1 }],
    ['hash', { hash: '0'.repeat(64) }],
    ['kind', { for: 'strategy' }],
  ])('finds an approval whose %s was altered, with the number of its record', (_what, altered) => {
    const changed = forged((body) => (isStep(body, 'approved', 'cat') ? { ...body, ...altered } : body));
    expect(named(changed)[0]).toBe(
      `${seqOf('approved', 'cat')}: it approves a different request than the one proposed`,
    );
  });
});
