import { describe, expect, it } from 'vitest';
import type { ApprovalPolicy } from '../../src/core/approvals/approval-policy.ts';
import { requestHash } from '../../src/core/approvals/approval-request.ts';
import type { PasskeyAssertion } from '../../src/core/approvals/passkey-assertion.ts';
import type { OverrideRecord, RecordBody, StoredRecord, UsedToken } from '../../src/core/record.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS, after, instant } from '../../src/core/time.ts';
import type { Command } from '../../src/engine/ports.ts';
import { ApprovalsProof } from '../../src/journal/proof/approvals-proof.ts';
import { aBench, aTwap } from '../engine/harness.ts';
import type { Bench } from '../engine/harness.ts';
import { aPasskey } from '../operate/sign-in/soft-passkey.ts';
import type { SoftPasskey } from '../operate/sign-in/soft-passkey.ts';

const person = (name: string): UsedToken => ({ name, kind: 'person' });
const groups = { risk: ['ann', 'bob'], treasury: ['bob', 'cat'] };
const approvals: ApprovalPolicy = {
  rules: [
    {
      for: ['rearm'],
      outcome: [
        { count: 1, groups: ['risk'] },
        { count: 1, groups: ['treasury'] },
      ],
    },
    { for: ['strategy', 'policy'], outcome: [{ count: 1, groups: ['risk'] }] },
    { for: ['parent', 'limits', 'override', 'doubt'], outcome: 'allow' },
  ],
  groups,
};

function tell(bench: Bench, name: string, command: object): void {
  const whole = { by: name, why: 'w', token: person(name), ...command, answer: () => undefined };
  bench.operator$.next(whole as unknown as Command);
  bench.clock.run(after(bench.clock.wall(), SECOND_MS));
}

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

/** A strategy that began with one approval, and a halt that two people lifted: five people, three of them with passkeys. */
function aJournal(): readonly StoredRecord[] {
  const keys = { ann: aPasskey(), bob: aPasskey(), cat: aPasskey() };
  const bench = aBench({ strategies: [aTwap('t')], policy: { approvals, areLimitsKept: true } });
  bench.start();
  bench.clock.run(after(bench.clock.wall(), MINUTE_MS));
  tell(bench, 'ann', { do: 'approve', override: 'ov-1' });
  bench.kill();
  const { clock, exchange, journal } = bench;
  const next = aBench({
    clock,
    exchange,
    journal,
    strategies: [aTwap('t')],
    policy: { approvals, areLimitsKept: true },
  });
  next.start();
  next.clock.run(after(next.clock.wall(), MINUTE_MS));
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
      tell(next, 'root', { do: 'person', record });
    }
  next.operator$.next({ do: 'halt', by: 'eve', why: 'wrong prices' });
  tell(next, 'eve', { do: 'rearm' });
  const hash = next.desk.state.overrides.get('ov-2')?.proposal.hash ?? '';
  for (const name of ['ann', 'cat'] as const)
    tell(next, name, { do: 'approve', override: 'ov-2', hash, assertion: signed(keys[name], hash) });
  return next.records();
}

const whole = aJournal();
const isStep = (body: RecordBody, step: string, by?: string): body is OverrideRecord =>
  body.kind === 'override' && body.step === step && (by === undefined || body.by === by);

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
    expect(whole.at(-1)?.body).toMatchObject({ kind: 'control', state: 'active' });
    expect(findings(whole)).toMatchObject([
      { request: 'ov-1', by: 'ann', proof: 'token' },
      { request: 'ov-2', by: 'ann', proof: 'passkey' },
      { request: 'ov-2', by: 'cat', proof: 'passkey' },
    ]);
    expect(faults(whole)).toEqual([]);
    const [first] = findings(whole);
    expect(whole.find(({ seq }) => seq === first?.seq)?.body).toMatchObject({ step: 'approved', by: 'ann' });
  });

  it('marks approvers who were invited from the machine itself, with the requests that they approved', () => {
    const invited = (name: string) =>
      whole.find(({ body }) => body.kind === 'person' && body.person === name && body.step === 'invited')
        ?.seq;
    const by = 'local (cli:root)';
    expect(proofOf(whole).approvers).toEqual([
      { person: 'ann', role: 'approver', invited: { seq: invited('ann'), by }, from_machine: true, approved: ['ov-2'] }, // prettier-ignore
      { person: 'cat', role: 'approver', invited: { seq: invited('cat'), by }, from_machine: true, approved: ['ov-2'] }, // prettier-ignore
    ]);
    const elsewhere = forged((body) => (body.kind === 'person' && body.person === 'cat' ? { ...body, by: 'eve', token: person('eve') } : body)); // prettier-ignore
    expect(proofOf(elsewhere).approvers.map(({ from_machine: is }) => is)).toEqual([true, false]);
    expect(findings(whole).some(({ invited_after_request: is }) => is === true)).toBe(false);
  });

  it('marks an approver who was invited after the request that they approved', () => {
    const isOfCat = ({ body }: StoredRecord): boolean => body.kind === 'person' && body.person === 'cat';
    const asked = whole.findIndex(({ body }) => isStep(body, 'proposed') && body.override === 'ov-2');
    const late = [
      ...whole.slice(0, asked + 1).filter((stored) => !isOfCat(stored)),
      ...whole.filter(isOfCat),
      ...whole.slice(asked + 1),
    ].map((stored, at) => ({ ...stored, seq: at + 1 }));
    expect(faults(late)).toEqual([]);
    expect(
      findings(late).map(({ by, invited_after_request: is }) => `${by} ${is === true ? 'late' : 'before'}`),
    ).toEqual(['ann before', 'ann before', 'cat late']);
  });

  it.each<readonly [string, (body: RecordBody) => RecordBody | undefined, RegExp]>([
    [
      'a request whose text was altered',
      (body) =>
        body.kind === 'override' && body.override === 'ov-2' ? { ...body, asks: 'lift another halt' } : body,
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
      /a passkey that the person has not enrolled/u,
    ],
    [
      'a missing signature',
      (body) => {
        if (!isStep(body, 'approved', 'cat')) return body;
        const { assertion: _assertion, ...rest } = body;
        return rest;
      },
      /not signed, and a passkey is required/u,
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
      /proposed it, so their approval does not count/u,
    ],
    [
      'an approval by a person in none of the groups',
      (body) =>
        isStep(body, 'approved', 'ann') ? { ...body, by: 'mallory', token: person('mallory') } : body,
      /mallory is in none of the groups/u,
    ],
    [
      'an approval by a program',
      (body) =>
        isStep(body, 'approved', 'ann') ? { ...body, token: { name: 'ann', kind: 'program' } } : body,
      /ann is not a person/u,
    ],
    [
      'one approval where two are needed',
      (body) => (isStep(body, 'agreed') ? undefined : body),
      /counts as approved without 1 of risk and 1 of treasury/u,
    ],
    [
      'a halt that was lifted before its approval was complete',
      (body) => (isStep(body, 'approved', 'cat') ? undefined : body),
      /a halt was lifted without the approval/u,
    ],
    [
      'a strategy that began without its approval',
      (body) => (body.kind === 'override' && body.override === 'ov-1' ? undefined : body),
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
      /cat had been removed/u,
    ],
    [
      'a request that requires fewer people than the policy',
      (body) =>
        isStep(body, 'proposed') && body.override === 'ov-2'
          ? { ...body, needs: [{ count: 1, groups: ['risk'] }] }
          : body,
      /its hash is not that of the request/u,
    ],
  ])('finds %s', (_name, change, why) => {
    expect(faults(forged(change)).join('\n')).toMatch(why);
  });

  it('accepts passkeys of an older version and reports that their page was not checked', () => {
    const old = forged((body) => {
      if (body.kind !== 'person' || body.passkey === undefined) return body;
      const { origin: _origin, rp_id: _host, ...passkey } = body.passkey;
      return { ...body, passkey };
    });
    expect(faults(old)).toEqual([]);
    expect(findings(old).map(({ unchecked }) => unchecked?.slice(0, 17))).toEqual([
      undefined,
      'the page on which',
      'the page on which',
    ]);
    expect(findings(whole).every(({ unchecked }) => unchecked === undefined)).toBe(true);
  });

  /** Changes every record of a request in the same way and computes its hash again, as an attacker could. */
  const rehashed = (change: (body: OverrideRecord) => OverrideRecord): readonly StoredRecord[] => {
    const started = whole.map(({ body }) => body).find((body) => body.kind === 'started');
    const { desk = '', account = '' } = started ?? {};
    return forged((body) => {
      if (body.kind !== 'override' || body.override !== 'ov-2') return body;
      const changed = change(body);
      return { ...changed, hash: requestHash(changed, { desk, account }) };
    });
  };

  it('finds a request that requires no passkey although the policy does', () => {
    const bare = rehashed(({ passkey: _passkey, assertion: _assertion, ...body }) => body);
    expect(faults(bare).join('\n')).toMatch(/requires no passkey, but the policy in force does/u);
  });

  it('finds a request that does not state its kind', () => {
    const nameless = rehashed(({ request: _request, needs: _needs, passkey: _passkey, assertion: _assertion, ...body }) => body); // prettier-ignore
    expect(faults(nameless).join('\n')).toMatch(/requires less than the policy in force/u);
  });

  it('finds a start that does not record its policy after a start that did', () => {
    let starts = 0;
    const dropped = forged((body) => {
      if (body.kind !== 'started' || ++starts === 1) return body;
      const { policy: _policy, ...rest } = body;
      return rest;
    });
    expect(faults(dropped).join('\n')).toMatch(/a start did not record its policy or limits/u);
  });

  it('finds a signature by the passkey of a viewer', () => {
    const viewer = forged((body) => (body.kind === 'person' && body.person === 'cat' ? { ...body, role: 'viewer' } : body)); // prettier-ignore
    expect(faults(viewer)).toEqual(['it is signed by a person with the viewer role']);
  });

  it('finds an approval that was given after the request had expired', () => {
    const late = whole.map((stored) =>
      isStep(stored.body, 'approved', 'cat') ? { ...stored, at: instant(stored.at + DAY_MS) } : stored,
    );
    expect(faults(late)).toEqual(['it came after the request had expired']);
  });

  it('finds a request that requires less than the policy recorded in the journal', () => {
    const loose = {
      ...approvals,
      rules: [{ ...approvals.rules[1], for: ['rearm' as const] }],
    } as ApprovalPolicy;
    const found = forged((body) => (body.kind === 'started' ? { ...body, policy: approvals } : body));
    expect(faults(found)).toEqual([]);
    const stricter: ApprovalPolicy = {
      ...loose,
      rules: [{ for: ['rearm'], outcome: [{ count: 2, groups: ['risk'] }] }, ...approvals.rules.slice(1)],
    };
    expect(
      faults(forged((body) => (body.kind === 'started' ? { ...body, policy: stricter } : body)))[0],
    ).toMatch(/it requires less than the policy in force/u);
  });

  const named = (records: readonly StoredRecord[]): readonly string[] =>
    findings(records).flatMap(({ seq, fault }) => (fault === undefined ? [] : [`${seq}: ${fault}`]));
  const seqOf = (step: string, by?: string): number =>
    whole.find(({ body }) => body.kind === 'override' && body.override === 'ov-2' && isStep(body, step, by))
      ?.seq ?? Number.NaN;
  const assertionOf = (by: string): PasskeyAssertion | undefined =>
    whole.flatMap(({ body }) => (body.kind === 'override' && body.by === by && body.override === 'ov-2' ? [body.assertion] : []))[0]; // prettier-ignore

  it('finds an approval that was replayed on another request, with the number of its record', () => {
    // Two requests for the same halt, which differ only in their ids.
    const second = whole.flatMap((stored) => {
      const { body } = stored;
      const isSecond = body.kind === 'override' && body.override === 'ov-2' && body.step !== 'approved';
      return isSecond ? [stored, { ...stored, body: { ...body, override: 'ov-3' } }] : [stored];
    });
    const started = whole.map(({ body }) => body).find((body) => body.kind === 'started');
    const { desk = '', account = '' } = started ?? {};
    const hashes = new Map<string, string>();
    const replayed = second.map((stored) => {
      const { body } = stored;
      if (body.kind !== 'override' || body.override !== 'ov-3') return stored;
      if (body.step === 'proposed') hashes.set('ov-3', requestHash(body, { desk, account }));
      return { ...stored, body: { ...body, hash: hashes.get('ov-3') } };
    });
    expect(named(replayed)).toEqual([`${seqOf('agreed', 'ann')}: it signs a different request`]);
  });

  it('finds approvals copied from the journal of another desk with the same people', () => {
    const copied = forged((body) => (body.kind === 'started' ? { ...body, desk: 'other' } : body));
    expect(named(copied)).toContain(`${seqOf('proposed')}: its hash is not that of the request`);
    // With new hashes for that desk, the signatures belong to other requests.
    let hash = '';
    const again = copied.map((stored) => {
      const { body } = stored;
      if (body.kind !== 'override' || body.override !== 'ov-2') return stored;
      const account =
        whole.flatMap((one) => (one.body.kind === 'started' ? [one.body.account] : []))[0] ?? '';
      if (body.step === 'proposed') hash = requestHash(body, { desk: 'other', account });
      return { ...stored, body: { ...body, hash } };
    });
    for (const [step, by] of [
      ['agreed', 'ann'],
      ['approved', 'cat'],
    ] as const)
      expect(named(again)).toContain(`${seqOf(step, by)}: it signs a different request`);
  });

  it('finds a person who approves twice, also under the name of another person', () => {
    const twice = forged((body) => (isStep(body, 'approved', 'cat') ? { ...body, by: 'ann', token: person('ANN'), assertion: assertionOf('ann') } : body)); // prettier-ignore
    expect(named(twice)[0]).toBe(`${seqOf('approved', 'cat')}: ANN had already approved it`);
    const borrowed = forged((body) => (isStep(body, 'approved', 'cat') ? { ...body, assertion: assertionOf('ann') } : body)); // prettier-ignore
    expect(named(borrowed)[0]).toMatch(new RegExp(`^${seqOf('approved', 'cat')}: .*not enrolled`, 'u'));
  });

  it.each<readonly [string, Partial<OverrideRecord>]>([
    ['words', { asks: 'lift another halt' }],
    ['subject', { subject: '0'.repeat(64) }],
    ['needs', { needs: [{ count: 1, groups: ['risk'] }] }],
    ['time', { expires_at: instant(9_999_999_999_999) }],
    ['proposer', { by: 'dan', token: person('dan') }],
    ['reason', { why: 'another' }],
    ['limit', { limit: 'doubt' }],
    ['hash', { hash: '0'.repeat(64) }],
  ])('finds a proposal whose %s was altered, with the number of its record', (_what, altered) => {
    const changed = forged((body) =>
      isStep(body, 'proposed') && body.override === 'ov-2' ? { ...body, ...altered } : body,
    );
    expect(named(changed)[0]).toBe(`${seqOf('proposed')}: its hash is not that of the request`);
  });

  it.each<readonly [string, Partial<OverrideRecord>]>([
    ['words', { asks: 'lift another halt' }],
    ['needs', { needs: [{ count: 1, groups: ['risk'] }] }],
    ['hash', { hash: '0'.repeat(64) }],
    ['request', { request: 'policy' }],
  ])('finds an approval whose %s was altered, with the number of its record', (_what, altered) => {
    const changed = forged((body) => (isStep(body, 'approved', 'cat') ? { ...body, ...altered } : body));
    expect(named(changed)[0]).toBe(
      `${seqOf('approved', 'cat')}: it approves a different request than the one proposed`,
    );
  });
});
