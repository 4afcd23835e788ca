import { describe, expect, it } from 'vitest';
import type { PasskeyAssertion } from '../../src/core/approvals/passkey-assertion.ts';
import { Approvals } from '../../src/core/approvals/requests.ts';
import { money, quantity } from '../../src/core/money.ts';
import type { ApprovalRecord, PersonRecord } from '../../src/core/record.ts';
import type { Role } from '../../src/core/roles.ts';
import { MINUTE_MS, SECOND_MS, instant, HOUR_MS } from '../../src/core/time.ts';
import { aPasskey } from '../operate/sign-in/soft-passkey.ts';
import type { SoftPasskey } from '../operate/sign-in/soft-passkey.ts';
import {
  aDesk,
  approvalsOf,
  approve,
  faults,
  halted,
  nextDesk,
  person,
  requests,
  run,
  tell,
} from './approval-desk.ts';
import { DOWN, faultAt } from './faulty-venue.ts';
import { aTwap, nextProcess } from './harness.ts';
import type { Bench } from './harness.ts';

const one = approvalsOf({ for: ['rearm', 'doubt'] });
const two = approvalsOf({ for: ['rearm'], count: 2 });
const machine = { name: 'local', kind: 'machine' } as const;
const bot = { name: 'bot', kind: 'program' } as const;

const controls = (bench: Bench) => bench.bodies('control');
const lifts = (bench: Bench): number => controls(bench).filter(({ state }) => state === 'active').length;
/** Invites, enrols or removes a person, as the machine token. */
const change = (
  bench: Bench,
  name: string,
  step: PersonRecord['step'],
  over: Partial<PersonRecord> = {},
): void => {
  const record = {
    kind: 'person',
    person: name,
    step,
    role: 'approver',
    by: 'root',
    why: 'w',
    token: machine,
    ...over,
  };
  tell(bench, 'root', { do: 'person', record });
};

describe('a rearm that needs approval', () => {
  it('waits for another person, and the journal stores the name and kind of both tokens', () => {
    const bench = aDesk(one);
    bench.operator$.next({ do: 'halt', by: 'ann', why: 'wrong prices' });
    expect(tell(bench, 'ann', { do: 'rearm' })).toMatchObject({
      isDone: true,
      says: 'ap-1 is proposed; 1 other person must approve it within 15 min',
    });
    expect(bench.desk.control).toBe('halted');
    expect(approve(bench, 'ben')).toEqual({
      isDone: true,
      says: 'ap-1 is approved: the desk trades again',
    });
    expect(bench.desk.control).toBe('active');
    expect(requests(bench)).toMatchObject([
      { step: 'proposed', for: 'rearm', asks: 'lift the halt (wrong prices)', token: person('ann') },
      { step: 'approved', for: 'rearm', by: 'ben', token: person('ben') },
    ]);
    expect(requests(bench)[0]?.hash).toMatch(/^[0-9a-f]{64}$/u);
    expect(controls(bench).at(-1)).toMatchObject({ state: 'active', by: 'ann and ben' });
    expect(faults(bench)).toEqual([]);
  });

  it('counts neither the machine token, nor a program, nor whoever asked, under any name or token', () => {
    const bench = aDesk(one);
    bench.operator$.next({ do: 'halt', by: 'eve', why: 'wrong prices' });
    for (const token of [machine, bot])
      expect(tell(bench, token.name, { do: 'rearm', token })?.says).toMatch(/does not count as one of two/u);
    expect(requests(bench)).toEqual([]);
    tell(bench, 'ann', { do: 'rearm' });
    for (const token of [machine, bot, person('ann'), person('Ann')])
      expect(approve(bench, token.name, 'ap-1', { token }).isDone).toBe(false);
    expect(approve(bench, ' ANN').says).toMatch(/has proposed it: another person must approve it$/u);
    for (const more of [
      { by: 'ANN', token: person('bob') },
      { by: 'bob', token: person('ann') },
    ])
      expect(approve(bench, 'bob', 'ap-1', more).isDone).toBe(false);
    expect(bench.desk.control).toBe('halted');
  });

  it('expires after 15 minutes even if the wall clock was set back', () => {
    const bench = halted(aDesk(one));
    run(bench, 14 * MINUTE_MS);
    bench.clock.stepWall(-HOUR_MS);
    run(bench, 2 * MINUTE_MS);
    expect(approve(bench, 'ben').says).toBe('ap-1 has expired');
  });

  it('is asked for once at a time, and covers only the halt for which it was asked', () => {
    const bench = halted(aDesk(one));
    expect(tell(bench, 'cat', { do: 'rearm' }).says).toBe(
      'ap-1 asks for the same already: approve it, or reject it to ask again',
    );
    tell(bench, 'cat', { do: 'rearm', withOpenDoubts: true });
    bench.operator$.next({ do: 'halt', by: 'eve', why: 'still wrong' });
    expect(approve(bench, 'ben').isDone).toBe(true);
    halted(bench);
    expect(approve(bench, 'ben', 'ap-2').isDone).toBe(true);
  });

  it('is ended by one rejection', () => {
    const bench = halted(aDesk(two));
    approve(bench, 'ann');
    expect(tell(bench, 'bob', { do: 'reject', request: 'ap-1' })).toEqual({
      isDone: true,
      says: 'ap-1 is rejected',
    });
    expect(approve(bench, 'cat').says).toBe('ap-1 was rejected by bob');
    expect(bench.desk.control).toBe('halted');
    expect(tell(bench, 'eve', { do: 'rearm' }).says).toMatch(/^ap-2 is proposed/u);
  });

  it('lets a start with --rearm lift a kill only if others agreed in the process before', () => {
    const first = aDesk(one);
    first.operator$.next({ do: 'halt', by: 'ann', why: 'wrong prices', isKill: true });
    run(first, SECOND_MS);
    const strategies = [aTwap('t')];
    const policy = { approvals: one, areLimitsKept: true };
    const alone = nextProcess(first, 0, { strategies, policy }, { rearm: 'I say so' });
    expect(String(alone.seen.error)).toContain('operate.approvals requires another person to agree');
    const second = nextDesk(alone, one);
    tell(second, 'ann', { do: 'rearm' });
    expect(approve(second, 'ben').says).toContain('tranche run --rearm');
    const third = nextProcess(second, 0, { strategies, policy }, { rearm: 'two of us' });
    expect(third.seen.error).toBeUndefined();
    expect(third.desk.control).toBe('active');
    expect(faults(third)).toEqual([]);
  });

  it('is carried out once if the approval is durable when the process dies, and otherwise not at all', () => {
    const appends = halted(aDesk(one)).appends();
    for (const records of ['lost', 'durable'] as const) {
      const before = halted(aDesk(one, { death: { at: appends + 2, records } }));
      approve(before, 'ann');
      const bench = nextDesk(before, one);
      expect([bench.desk.control, lifts(bench)]).toEqual(records === 'lost' ? ['halted', 0] : ['active', 1]);
    }
  });
});

describe('a request that two others must approve', () => {
  it('is carried out at the last approval, and the record names everyone involved', () => {
    const bench = halted(aDesk(two));
    expect(approve(bench, 'ann').says).toBe('ap-1 has your approval; still missing: 1 other person');
    expect(bench.desk.control).toBe('halted');
    expect(approve(bench, 'cat').says).toBe('ap-1 is approved: the desk trades again');
    expect(controls(bench).at(-1)).toMatchObject({ by: 'eve and ann and cat' });
    expect(faults(bench)).toEqual([]);
  });

  it('says that it was carried out if somebody rejects it afterwards', () => {
    const bench = halted(aDesk(one));
    approve(bench, 'ann');
    const late = tell(bench, 'bob', { do: 'reject', request: 'ap-1' });
    expect(late).toEqual({ isDone: false, says: 'ap-1 is used: it cannot be rejected' });
  });

  it('counts one person once, whatever the letter case of the name', () => {
    const bench = halted(aDesk(two));
    approve(bench, 'bob');
    for (const name of ['bob', 'BOB', ' bob']) expect(approve(bench, name).isDone).toBe(false);
    expect(bench.desk.control).toBe('halted');
  });

  it('drops the approval of a person who is removed, until that person approves again after an invitation', () => {
    const bench = halted(aDesk(two));
    change(bench, 'ann', 'invited');
    approve(bench, 'ann');
    change(bench, 'Ann', 'removed');
    expect(approve(bench, 'ann').says).toBe('ann was removed, and can no longer approve');
    change(bench, 'ann', 'invited');
    expect(approve(bench, 'bob').says).toMatch(/still missing: 1 other person/u);
    expect(bench.desk.control).toBe('halted');
    expect(approve(bench, 'ann').says).toMatch(/trades again/u);
    expect(faults(bench)).toEqual([]);
  });

  it('rejects an approval with a different hash', () => {
    const bench = halted(aDesk(two));
    expect(approve(bench, 'ann', 'ap-1', { hash: '0'.repeat(64) }).says).toMatch(
      /differs from the one that you reviewed/u,
    );
    expect(approve(bench, 'ann', 'ap-1', { hash: requests(bench)[0]?.hash }).isDone).toBe(true);
  });

  it('counts two simultaneous approvals once each and is carried out once', () => {
    const bench = halted(aDesk(two));
    approve(bench, 'ann');
    const told: string[] = [];
    for (const name of ['bob', 'cat'])
      bench.operator$.next({
        do: 'approve',
        request: 'ap-1',
        by: name,
        why: 'w',
        token: person(name),
        answer: ({ says }) => told.push(says),
      });
    run(bench, SECOND_MS);
    expect(told.filter((says) => says.endsWith('the desk trades again'))).toHaveLength(1);
    expect(requests(bench).filter(({ step }) => step === 'approved')).toHaveLength(2);
    expect(lifts(bench)).toBe(1);
  });

  it('does not survive a kill of the process between two approvals', () => {
    const before = halted(aDesk(two));
    approve(before, 'ann');
    const bench = nextDesk(before, two);
    expect(bench.desk.control).toBe('halted');
    expect(approve(bench, 'cat').says).toBe('there is no request ap-1');
    expect(bench.desk.control).toBe('halted');
  });
});

describe('a doubt that a person resolves', () => {
  it('needs approval of its figures, which the machine token cannot give', () => {
    const bench = aDesk(one, {
      strategies: [aTwap('t', { slices: 4, duration: 'PT20M' })],
      wrap: faultAt('answer lost', 1, () => DOWN),
    });
    run(bench, 9 * MINUTE_MS);
    const [clientOrderId = ''] = bench.desk.state.attempts.keys();
    const figures = { orderId: '9', quantity: quantity('0.25'), amount: money('15000'), fees: money('0') };
    const filled = { do: 'resolve', clientOrderId, verdict: 'filled', figures };
    expect(tell(bench, 'ann', filled).says).toMatch(/^ap-1 is proposed; .* within 15 min$/u);
    const told = (): readonly unknown[] => bench.bodies('fill').filter(({ source }) => source === 'operator');
    expect(requests(bench)[0]).toMatchObject({
      for: 'doubt',
      asks: `${clientOrderId} filled as 9: 0.25 for 15000, fees 0`,
    });
    expect(approve(bench, 'local', 'ap-1', { token: machine }).isDone).toBe(false);
    expect(told()).toHaveLength(0);
    expect(approve(bench, 'ben').isDone).toBe(true);
    expect(told()).toHaveLength(1);
    const resolved = bench.bodies('resolved')[0];
    expect(resolved).toMatchObject({ by: 'ann and ben' });
    expect(faults(bench)).toEqual([]);
  });
});

describe('the kept requests', () => {
  it('are at most 20 open ones for each person', () => {
    const bench = aDesk(one);
    const ask = (name: string, n: number): boolean =>
      tell(bench, name, { do: 'resolve', clientOrderId: `c${n}`, verdict: 'ours', rows: ['1'] }).isDone;
    for (let n = 0; n < 20; n += 1) expect(ask('eve', n)).toBe(true);
    expect(ask('Eve', 20)).toBe(false);
    expect(ask('dan', 20)).toBe(true);
    tell(bench, 'dan', { do: 'reject', request: 'ap-1' });
    expect(ask('eve', 21)).toBe(true);
    run(bench, 16 * MINUTE_MS);
    expect(ask('eve', 22)).toBe(true);
  });

  it('stay in memory while open or approved, and are removed once rejected or expired', () => {
    const approvals = new Approvals();
    const at = instant(0);
    const proposal = (request: string, more: Partial<ApprovalRecord> = {}): ApprovalRecord => ({
      kind: 'approval', request, step: 'proposed', for: 'rearm', asks: 'x', subject: request, count: 1, hash: 'h', expires_at: instant(10), by: 'ann', why: 'w', ...more,
    }); // prettier-ignore
    approvals.apply(proposal('open'), at);
    approvals.apply(proposal('approved'), at);
    approvals.apply(proposal('approved', { step: 'approved', by: 'bob' }), at);
    approvals.apply(proposal('rejected'), at);
    approvals.apply(proposal('rejected', { step: 'rejected', by: 'bob' }), at);
    for (let n = 0; n < 1_100; n += 1) approvals.apply(proposal(`x${n}`), at);
    expect(approvals.get('open')).toBeDefined();
    expect(approvals.get('approved')).toMatchObject({ isApproved: true });
    expect(approvals.get('rejected')).toBeUndefined();
    approvals.apply(proposal('later', { expires_at: instant(30) }), instant(20));
    expect(approvals.get('open')).toBeUndefined();
    expect([...approvals.all()].length).toBe(1_000);
  });
});

describe('an approval by passkey', () => {
  const origin = 'https://tranche.example';
  const rpId = 'tranche.example';
  const enrol = (
    bench: Bench,
    name: string,
    passkey: SoftPasskey,
    role: Role = 'approver',
    home: object = { origin, rp_id: rpId },
  ): void => {
    change(bench, name, 'invited', { role });
    change(bench, name, 'enrolled', {
      role,
      passkey: { id: passkey.id, public_key: passkey.publicKey, counter: 0, ...home },
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
    const bench = aDesk(approvalsOf({ for: ['rearm'], count: 2, passkey: 'required' }));
    for (const [name, key] of Object.entries(keys)) enrol(bench, name, key);
    return { bench: halted(bench), keys };
  };
  const hashOf = (bench: Bench, id = 'ap-1'): string =>
    requests(bench).find(({ request }) => request === id)?.hash ?? '';

  it('is accepted for the hash of its request and is stored in the journal', () => {
    const { bench, keys } = withKeys();
    const hash = hashOf(bench);
    expect(approve(bench, 'ann', 'ap-1', { hash, assertion: signed(keys.ann, hash) }).isDone).toBe(true);
    const assertion = signed(keys.cat, hash);
    expect(approve(bench, 'cat', 'ap-1', { hash, assertion }).says).toMatch(/trades again$/u);
    expect(requests(bench).at(-1)).toMatchObject({ step: 'approved', by: 'cat', assertion });
    expect(faults(bench)).toEqual([]);
  });

  it('is refused if the counter of the passkey has not risen since its last sign-in or approval', () => {
    const { bench, keys } = withKeys();
    const hash = hashOf(bench);
    const passkey = { id: keys.ann.id, counter: 8, origin, rp_id: rpId };
    change(bench, 'ann', 'signed_in', { by: 'ann', passkey });
    const by = (name: 'ann' | 'cat', counter: number): string =>
      approve(bench, name, 'ap-1', { hash, assertion: signed(keys[name], hash, { counter }) }).says;
    expect(by('ann', 8)).toMatch(/its counter did not rise/u);
    expect(by('ann', 9)).toMatch(/has your approval/u);
    expect(bench.desk.state.people.get('ann')?.passkeys).toMatchObject([{ counter: 9 }]);
    expect(by('cat', 1)).toMatch(/trades again/u);
    expect(faults(bench)).toEqual([]);
  });

  it('is accepted only from origins where the passkey enrolled or signed in, and only for its host', () => {
    const { bench, keys } = withKeys();
    const hash = hashOf(bench);
    const at = (page: { origin: string; rpId: string }) =>
      approve(bench, 'ann', 'ap-1', { hash, assertion: signed(keys.ann, hash, {}, page) });
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
    expect(at({ origin, rpId: 'example' }).says).toMatch(/was not made for this desk/u);
    const passkey = { id: keys.ann.id, counter: 1, origin: 'https://tranche.example:8443', rp_id: rpId };
    change(bench, 'ann', 'signed_in', { by: 'ann', passkey });
    expect(at({ origin: 'https://tranche.example:8443', rpId }).isDone).toBe(true);
  });

  it.each<readonly [string, Role, object, RegExp]>([
    ['the person has the viewer role in the journal', 'viewer', { origin, rp_id: rpId }, /viewer role/u],
    ['no record names the page of the passkey', 'approver', {}, /sign in with it once/u],
  ])('is refused if %s', (_, role, home, says) => {
    const key = aPasskey();
    const bench = aDesk(one);
    enrol(bench, 'ann', key, role, home);
    halted(bench);
    const hash = hashOf(bench);
    const answer = approve(bench, 'ann', 'ap-1', { hash, assertion: signed(key, hash) });
    expect(answer).toMatchObject({ isDone: false, says: expect.stringMatching(says) as string });
  });

  it('is required where the settings say so: a token is not enough', () => {
    const { bench } = withKeys();
    expect(approve(bench, 'bob').says).toMatch(/^this request needs a passkey/u);
    expect(bench.desk.control).toBe('halted');
  });

  it('is refused if it is for another request or person, replayed, unverified or altered', () => {
    const { bench, keys } = withKeys();
    const hash = hashOf(bench);
    tell(bench, 'eve', { do: 'rearm', withOpenDoubts: true, why: 'the same' });
    tell(bench, 'bob', { do: 'reject', request: 'ap-1' });
    tell(bench, 'eve', { do: 'rearm' });
    const other = hash;
    const now = hashOf(bench, 'ap-2');
    expect(other).not.toBe(now);
    const good = signed(keys.ann, now);
    const refused: readonly (readonly [string, PasskeyAssertion, RegExp])[] = [
      ['ann', signed(keys.ann, other), /signs a different request/u],
      ['cat', good, /the passkey does not belong to cat/u],
      ['eve', signed(keys.eve, now), /eve has proposed it: another person must/u],
      ['ann', signed(keys.ann, now, { isUnverified: true }), /did not verify the user/u],
      ['ann', signed(keys.ann, now, { signWith: keys.cat.privateKey }), /does not match the key/u],
      ['ann', signed(keys.ann, now, { type: 'webauthn.create' }), /does not belong to an assertion/u],
      ['ann', { ...good, client_data_json: 'bm8' }, /not valid JSON/u],
      ['ann', { ...good, authenticator_data: 'AAAA' }, /too short/u],
      ['ann', { ...good, signature: 'AAAA' }, /does not match the key/u],
    ];
    for (const [name, assertion, why] of refused) {
      const told = approve(bench, name, 'ap-2', { hash: now, assertion });
      expect(told.isDone).toBe(false);
      expect(told.says).toMatch(why);
    }
    expect(approve(bench, 'ann', 'ap-2', { hash: now, assertion: good }).isDone).toBe(true);
    expect(approve(bench, 'ann', 'ap-2', { hash: now, assertion: good }).says).toBe(
      'ann has approved it already',
    );
  });
});
