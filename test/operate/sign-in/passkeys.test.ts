import { describe, expect, it } from 'vitest';
import { verifyAssertion, verifyRegistration } from '../../../src/operate/sign-in/passkeys.ts';
import { aPasskey } from './soft-passkey.ts';

const HERE = { challenge: 'Y2hhbGxlbmdl', origin: 'http://localhost:8321', rpId: 'localhost' };

describe('an assertion of a passkey', () => {
  const mine = aPasskey();
  const passkey = { id: mine.id, publicKey: mine.publicKey, counter: 4 };

  it('is accepted if its owner signed this challenge on this page', async () => {
    const response = mine.assert(HERE, { counter: 5 });
    expect(await verifyAssertion({ ...HERE, response, passkey })).toEqual({ ok: true, counter: 5 });
  });

  it('is accepted from a device without a counter', async () => {
    const response = mine.assert(HERE, { counter: 0 });
    const uncounted = { ...passkey, counter: 0 };
    expect(await verifyAssertion({ ...HERE, response, passkey: uncounted })).toEqual({
      ok: true,
      counter: 0,
    });
  });

  it.each([
    ['another challenge was signed', { ...HERE, challenge: 'b3RoZXI' }, {}, /challenge/u],
    ['it was signed on another page', { ...HERE, origin: 'http://localhost:9999' }, {}, /origin/u],
    ['it was signed for another host', { ...HERE, rpId: 'tranche.example' }, {}, /RP ID/u],
    ['the counter does not increase', HERE, { counter: 4 }, /counter/u],
    ['the counter decreases', HERE, { counter: 3 }, /counter/u],
    ['the device did not verify the person', HERE, { counter: 5, isUnverified: true }, /user/iu],
    [
      'another person signed it',
      HERE,
      { counter: 5, signWith: aPasskey().privateKey },
      /signature does not match/u,
    ],
    ['it is an enrolment', HERE, { counter: 5, type: 'webauthn.create' }, /type/u],
  ])('is refused if %s', async (_why, ceremony, tampering, problem) => {
    const response = mine.assert(ceremony, tampering);
    const judged = await verifyAssertion({ ...HERE, response, passkey });
    expect('problem' in judged ? judged.problem : 'accepted').toMatch(problem);
  });

  it('is refused if another passkey made it', async () => {
    const response = aPasskey().assert(HERE);
    expect(await verifyAssertion({ ...HERE, response, passkey })).toEqual({
      problem: 'it was signed with another passkey',
    });
  });

  it.each([
    undefined,
    'x',
    {},
    { id: 5 },
    { id: mine.id },
    { id: mine.id, response: {} },
    { id: mine.id, rawId: mine.id, type: 'public-key', response: { clientDataJSON: 'AA' } },
  ])('is refused with a message if it is malformed: %j', async (response) => {
    expect(await verifyAssertion({ ...HERE, response, passkey })).toHaveProperty('problem');
  });
});

describe('a new passkey', () => {
  it('is registered with its public key, which verifies its signatures', async () => {
    const device = aPasskey();
    const made = await verifyRegistration({ ...HERE, response: device.register(HERE) });
    if ('problem' in made) throw new Error(made.problem);
    expect(made.passkey).toEqual({ id: device.id, publicKey: device.publicKey, counter: 0 });
    const response = device.assert(HERE);
    expect(await verifyAssertion({ ...HERE, response, passkey: made.passkey })).toHaveProperty('ok');
  });

  it.each([
    ['another challenge', { ...HERE, challenge: 'b3RoZXI' }],
    ['another page', { ...HERE, origin: 'https://evil.example' }],
    ['another host', { ...HERE, rpId: 'evil.example' }],
  ])('is refused if it was made for %s', async (_of, ceremony) => {
    const response = aPasskey().register(ceremony);
    expect(await verifyRegistration({ ...HERE, response })).toHaveProperty('problem');
  });

  it('is refused if the response is an assertion', async () => {
    const response = aPasskey().assert(HERE);
    expect(await verifyRegistration({ ...HERE, response })).toHaveProperty('problem');
  });
});
