import { describe, expect, it } from 'vitest';
import type { ApprovalPolicy } from '../../src/core/approvals/approval-policy.ts';
import type { PasskeyAssertion } from '../../src/core/approvals/passkey-assertion.ts';
import type { OverrideRecord, UsedToken } from '../../src/core/record.ts';
import type { Role } from '../../src/core/roles.ts';
import { MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import type { Command, CommandAnswer } from '../../src/engine/ports.ts';
import { aPasskey } from '../operate/sign-in/soft-passkey.ts';
import type { SoftPasskey } from '../operate/sign-in/soft-passkey.ts';
import { aBench, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

const person = (name: string): UsedToken => ({ name, kind: 'person' });
const groups = { risk: ['ann', 'bob'], treasury: ['bob', 'cat'] };
const both: ApprovalPolicy = {
  rules: [
    {
      for: ['rearm'],
      outcome: [
        { count: 1, groups: ['risk'] },
        { count: 1, groups: ['treasury'] },
      ],
    },
    { for: ['doubt'], outcome: 'block' },
    { for: ['override'], limits: ['max_drift_bps'], outcome: 'allow' },
    { for: ['parent', 'strategy', 'limits', 'policy'], outcome: 'allow' },
  ],
  groups,
};

function aDesk(approvals: ApprovalPolicy = both, over: Partial<BenchOptions> = {}): Bench {
  const bench = aBench({
    strategies: [aTwap('t', { slices: 4, duration: 'PT20M' })],
    policy: { approvals },
    ...over,
  });
  bench.start();
  bench.clock.run(after(bench.clock.wall(), MINUTE_MS));
  return bench;
}

type Asked = Omit<Command & { do: 'approve' }, 'by' | 'why' | 'token' | 'answer' | 'do' | 'override'>;

function tell(bench: Bench, token: UsedToken, command: object): CommandAnswer | undefined {
  let told: CommandAnswer | undefined;
  const whole = {
    by: token.name,
    why: 'w',
    token,
    ...command,
    answer: (answer: CommandAnswer) => (told = answer),
  };
  bench.operator$.next(whole as unknown as Command);
  bench.clock.run(after(bench.clock.wall(), SECOND_MS));
  return told;
}
const approve = (bench: Bench, name: string, more: Asked = {}, id = 'ov-1'): CommandAnswer | undefined =>
  tell(bench, person(name), { do: 'approve', override: id, ...more });

function halted(bench = aDesk()): Bench {
  bench.operator$.next({ do: 'halt', by: 'eve', why: 'wrong prices' });
  tell(bench, person('eve'), { do: 'rearm' });
  return bench;
}
const steps = (bench: Bench): readonly OverrideRecord[] =>
  bench.records().flatMap(({ body }) => (body.kind === 'override' ? [body] : []));

describe('a request that needs approvals from two groups', () => {
  it('is carried out at the last approval, and the record names everyone involved', () => {
    const bench = halted();
    expect(approve(bench, 'ann')?.says).toBe('ov-1 has your approval; still missing: 1 of treasury');
    expect(bench.desk.control).toBe('halted');
    expect(approve(bench, 'cat')?.says).toBe('ov-1 is approved: the desk trades again');
    expect(steps(bench).map(({ step, by }) => [step, by])).toEqual([
      ['proposed', 'eve'],
      ['agreed', 'ann'],
      ['approved', 'cat'],
    ]);
    expect(bench.records().at(-1)?.body).toMatchObject({ kind: 'control', by: 'eve and ann and cat' });
  });

  it('is not approved by one person in both groups, whatever the letter case of the name', () => {
    const bench = halted();
    expect(approve(bench, 'bob')?.isDone).toBe(true);
    for (const name of ['bob', 'BOB', ' bob']) expect(approve(bench, name)?.isDone).toBe(false);
    expect(bench.desk.control).toBe('halted');
  });

  it('cannot be approved by its initiator under another token or another letter case of the name', () => {
    const bench = aDesk();
    bench.operator$.next({ do: 'halt', by: 'eve', why: 'wrong prices' });
    tell(bench, person('ann'), { do: 'rearm' });
    expect(approve(bench, 'Ann')?.says).toBe('Ann has proposed it: another person must approve it');
    expect(tell(bench, person('bob'), { do: 'approve', override: 'ov-1', by: 'ANN' })?.isDone).toBe(false);
  });

  it('cannot be approved by a person in neither group', () => {
    expect(approve(halted(), 'mallory')?.says).toBe(
      'mallory is in none of the groups that must agree: 1 of risk and 1 of treasury',
    );
  });

  it('cannot be approved by a removed person, and drops the approval of a person who is removed later', () => {
    const remove = (bench: Bench, name: string): void => {
      for (const step of ['invited', 'removed'] as const)
        tell(bench, person('root'), {
          do: 'person',
          record: { kind: 'person', person: name, step, role: 'approver', by: 'root', why: 'w' },
        });
    };
    const bench = halted();
    expect(approve(bench, 'ann')?.isDone).toBe(true);
    remove(bench, 'ann');
    expect(approve(bench, 'cat')?.says).toMatch(/still missing/u);
    expect(bench.desk.control).toBe('halted');
    const other = halted();
    remove(other, 'ann');
    expect(approve(other, 'ann')?.says).toBe('ann was removed, and can no longer approve');
  });

  it('rejects an approval with a different hash', () => {
    const bench = halted();
    expect(approve(bench, 'ann', { hash: '0'.repeat(64) })?.says).toMatch(
      /differs from the one that you reviewed/u,
    );
    expect(approve(bench, 'ann', { hash: steps(bench)[0]?.hash })?.isDone).toBe(true);
  });

  it('counts two simultaneous approvals once each and is carried out once', () => {
    const bench = halted();
    approve(bench, 'ann');
    const told: string[] = [];
    for (const name of ['bob', 'cat'])
      bench.operator$.next({
        do: 'approve',
        override: 'ov-1',
        by: name,
        why: 'w',
        token: person(name),
        answer: ({ says }) => told.push(says),
      });
    bench.clock.run(after(bench.clock.wall(), SECOND_MS));
    expect(told.filter((says) => says.endsWith('the desk trades again'))).toHaveLength(1);
    expect(steps(bench).filter(({ step }) => step === 'approved')).toHaveLength(1);
    expect(
      bench.records().filter(({ body }) => body.kind === 'control' && body.state === 'active'),
    ).toHaveLength(1);
  });

  it('does not survive a kill of the process between two approvals', () => {
    const before = halted();
    approve(before, 'ann');
    before.kill();
    const { clock, exchange, journal } = before;
    const bench = aDesk(both, { clock, exchange, journal });
    expect(bench.desk.control).toBe('halted');
    expect(approve(bench, 'cat')?.says).toBe('there is no override ov-1');
    expect(bench.desk.control).toBe('halted');
  });
});

describe('the approval policy', () => {
  it('blocks a command if a rule blocks it or no rule matches it', () => {
    const bench = aDesk();
    const figures = { orderId: '1', quantity: '1', amount: '1', fees: '0' };
    const resolve = { do: 'resolve', clientOrderId: 'x', verdict: 'filled', figures };
    expect(tell(bench, person('ann'), resolve)?.says).toBe('rule 2 of operate.policy blocks it');
    const propose = { do: 'propose', limit: 'max_day_notional', value: '9', pair: 'btcusd', side: 'buy' };
    expect(tell(bench, person('ann'), propose)?.says).toBe(
      'no rule of operate.policy matches it, so it is blocked',
    );
    expect(steps(bench)).toEqual([]);
  });

  it('lets one person act alone if a rule allows it, and records that', () => {
    const bench = aDesk();
    const propose = { do: 'propose', limit: 'max_drift_bps', value: '900', pair: 'btcusd', side: 'buy' };
    expect(tell(bench, person('ann'), propose)?.says).toBe(
      'ov-1 is approved for one order: operate.policy requires nobody else',
    );
    expect(steps(bench).map(({ step, by }) => [step, by])).toEqual([
      ['proposed', 'ann'],
      ['approved', 'tranche'],
    ]);
  });

  it('does not accept a program or a machine as the initiator of a request', () => {
    const bench = aDesk();
    bench.operator$.next({ do: 'halt', by: 'eve', why: 'w' });
    for (const token of [
      { name: 'local', kind: 'machine' },
      { name: 'bot', kind: 'program' },
    ] as const)
      expect(tell(bench, token, { do: 'rearm' })?.isDone).toBe(false);
  });
});

describe('a start with a changed approval policy', () => {
  const kept = (approvals: ApprovalPolicy) => ({ policy: { approvals, areLimitsKept: true } });
  const guarded: ApprovalPolicy = {
    rules: [
      { for: ['policy'], outcome: [{ count: 1, groups: ['risk'] }] },
      { for: ['rearm', 'parent', 'strategy', 'limits', 'doubt', 'override'], outcome: 'allow' },
    ],
    groups,
  };
  const loose: ApprovalPolicy = { ...guarded, groups: { ...groups, risk: ['ann', 'bob', 'mallory'] } };
  const next = (before: Bench, approvals: ApprovalPolicy): Bench => {
    before.kill();
    const { clock, exchange, journal } = before;
    return aDesk(approvals, { clock, exchange, journal, ...kept(approvals) });
  };

  it('is halted until the people required by the previous policy approve the difference', () => {
    const bench = next(aDesk(guarded, kept(guarded)), loose);
    expect(bench.desk.controlWhy).toMatch(/group risk: ann and bob -> ann and bob and mallory/u);
    tell(bench, person('eve'), { do: 'rearm' });
    expect(steps(bench)[0]).toMatchObject({
      request: 'policy',
      difference: ['group risk: ann and bob -> ann and bob and mallory'],
      needs: [{ count: 1, groups: ['risk'] }],
    });
    expect(approve(bench, 'mallory')?.isDone).toBe(false);
    expect(approve(bench, 'ann')?.says).toBe('ov-1 is approved: the desk trades again');
    expect(next(bench, loose).desk.control).toBe('active');
  });

  it('needs the approval of those people even if the new policy has no rules', () => {
    const bench = next(aDesk(guarded, kept(guarded)), { rules: [], groups });
    expect(bench.desk.control).toBe('halted');
    tell(bench, person('eve'), { do: 'rearm' });
    expect(steps(bench)[0]?.needs).toEqual([{ count: 1, groups: ['risk'] }]);
  });
});

describe('a passkey approval', () => {
  const origin = 'https://tranche.example';
  const rpId = 'tranche.example';
  const enrol = (
    bench: Bench,
    name: string,
    passkey: SoftPasskey,
    role: Role = 'approver',
    home: object = { origin, rp_id: rpId },
  ): void => {
    for (const step of ['invited', 'enrolled'] as const)
      tell(bench, person('root'), {
        do: 'person',
        record: {
          kind: 'person',
          person: name,
          step,
          role,
          by: 'root',
          why: 'w',
          ...(step === 'enrolled'
            ? { passkey: { id: passkey.id, public_key: passkey.publicKey, counter: 0, ...home } }
            : {}),
        },
      });
  };
  const signed = (
    passkey: SoftPasskey,
    hash = '',
    over: object = {},
    page = { origin, rpId },
  ): PasskeyAssertion => {
    const challenge = Buffer.from(hash, 'hex').toString('base64url');
    const made = passkey.assert({ challenge, ...page }, over) as {
      id: string;
      response: { authenticatorData: string; clientDataJSON: string; signature: string };
    };
    return {
      credential_id: made.id,
      authenticator_data: made.response.authenticatorData,
      client_data_json: made.response.clientDataJSON,
      signature: made.response.signature,
    };
  };
  const withKeys = () => {
    const keys = { ann: aPasskey(), cat: aPasskey(), eve: aPasskey() };
    const bench = aDesk();
    for (const [name, key] of Object.entries(keys)) enrol(bench, name, key);
    return { bench: halted(bench), keys };
  };
  const hashOf = (bench: Bench, id = 'ov-1'): string =>
    steps(bench).find(({ override }) => override === id)?.hash ?? '';

  it('is accepted for the hash of its request and is stored in the journal', () => {
    const { bench, keys } = withKeys();
    const hash = hashOf(bench);
    expect(approve(bench, 'ann', { hash, assertion: signed(keys.ann, hash) })?.isDone).toBe(true);
    const assertion = signed(keys.cat, hash);
    expect(approve(bench, 'cat', { hash, assertion })?.says).toMatch(/trades again$/u);
    expect(steps(bench).at(-1)).toMatchObject({ step: 'approved', by: 'cat', assertion });
  });

  it('is refused if the person has the viewer role in the journal', () => {
    const key = aPasskey();
    const bench = aDesk();
    enrol(bench, 'ann', key, 'viewer');
    halted(bench);
    const hash = hashOf(bench);
    expect(approve(bench, 'ann', { hash, assertion: signed(key, hash) })).toMatchObject({
      isDone: false,
      says: expect.stringMatching(/viewer role/u) as string,
    });
  });

  it('is accepted only from origins where the passkey enrolled or signed in, and only for its host', () => {
    const { bench, keys } = withKeys();
    const hash = hashOf(bench);
    const at = (page: { origin: string; rpId: string }) =>
      approve(bench, 'ann', { hash, assertion: signed(keys.ann, hash, {}, page) });
    for (const page of [
      { origin: 'https://tranche.example:8443', rpId },
      { origin: 'https://evil.tranche.example', rpId },
      { origin: 'http://tranche.example', rpId },
      { origin: 'https://tranche.example.evil.example', rpId },
    ])
      expect(at(page)).toMatchObject({
        isDone: false,
        says: expect.stringMatching(/where the passkey has not signed in/u) as string,
      });
    expect(at({ origin, rpId: 'example' })?.says).toMatch(/was not made for this desk/u);
    tell(bench, person('ann'), {
      do: 'person',
      record: {
        kind: 'person', person: 'ann', step: 'signed_in', role: 'approver', by: 'ann', why: 'w',
        passkey: { id: keys.ann.id, counter: 1, origin: 'https://tranche.example:8443', rp_id: rpId },
      },
    }); // prettier-ignore
    expect(at({ origin: 'https://tranche.example:8443', rpId })?.isDone).toBe(true);
  });

  it('needs a sign-in first if an older version enrolled the passkey without its origin', () => {
    const key = aPasskey();
    const bench = aDesk();
    enrol(bench, 'ann', key, 'approver', {});
    halted(bench);
    const hash = hashOf(bench);
    expect(approve(bench, 'ann', { hash, assertion: signed(key, hash) })?.says).toMatch(
      /sign in with it once/u,
    );
  });

  it('is required once anyone has a passkey: a token is not enough', () => {
    const { bench } = withKeys();
    expect(approve(bench, 'bob')?.says).toMatch(/^this request needs a passkey/u);
    expect(bench.desk.control).toBe('halted');
  });

  it('is refused if it is for another request or person, replayed, unverified or altered', () => {
    const { bench, keys } = withKeys();
    const hash = hashOf(bench);
    tell(bench, person('eve'), { do: 'rearm' });
    const other = hashOf(bench, 'ov-2');
    expect(other).not.toBe(hash);
    const good = signed(keys.ann, hash);
    const refused: readonly (readonly [string, PasskeyAssertion, RegExp])[] = [
      ['ann', signed(keys.ann, other), /signs a different request/u],
      ['cat', good, /the passkey does not belong to cat/u],
      ['eve', signed(keys.eve, hash), /eve has proposed it: another person must/u],
      ['ann', signed(keys.ann, hash, { isUnverified: true }), /did not verify the user/u],
      ['ann', signed(keys.ann, hash, { signWith: keys.cat.privateKey }), /does not match the key/u],
      ['ann', signed(keys.ann, hash, { type: 'webauthn.create' }), /does not belong to an assertion/u],
      ['ann', { ...good, client_data_json: 'bm8' }, /not valid JSON/u],
      ['ann', { ...good, authenticator_data: 'AAAA' }, /too short/u],
      ['ann', { ...good, signature: 'AAAA' }, /does not match the key/u],
    ];
    for (const [name, assertion, why] of refused) {
      const told = approve(bench, name, { hash, assertion });
      expect(told?.isDone).toBe(false);
      expect(told?.says).toMatch(why);
    }
    expect(approve(bench, 'ann', { hash, assertion: good })?.isDone).toBe(true);
    expect(approve(bench, 'ann', { hash, assertion: good })?.says).toBe('ann has approved it already');
    expect(approve(bench, 'ann', { assertion: good }, 'ov-2')?.says).toMatch(/signs a different request/u);
  });
});
