import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { assertionFault } from '../../src/core/approvals/passkey-assertion.ts';

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const part = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64url');
const CHALLENGE = 'ab'.repeat(32);
const HOME = { rpId: 'tranche.example', origins: ['https://tranche.example'] };

/** Why an assertion by this key is refused, verified with this COSE key. */
function faultOf(cose: Buffer, privateKey: KeyObject, digest: string | null): string | undefined {
  const challenge = Buffer.from(CHALLENGE, 'hex').toString('base64url');
  const client = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin: HOME.origins[0] }));
  const data = Buffer.concat([sha256(HOME.rpId), Buffer.from([0x05, 0, 0, 0, 1])]);
  const assertion = {
    credential_id: 'k',
    authenticator_data: data.toString('base64url'),
    client_data_json: client.toString('base64url'),
    signature: sign(digest, Buffer.concat([data, sha256(client)]), privateKey).toString('base64url'),
  };
  return assertionFault(assertion, CHALLENGE, { id: 'k', publicKey: cose.toString('base64url'), home: HOME });
}

const hex = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((one) => (typeof one === 'string' ? Buffer.from(one, 'hex') : one)));

describe('the signature of an assertion', () => {
  it('is verified with an ES256 key', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x, y } = publicKey.export({ format: 'jwk' });
    const cose = hex('a5010203262001215820', part(x), '225820', part(y));
    expect(faultOf(cose, privateKey, 'sha256')).toBeUndefined();
  });

  it('is verified with an Ed25519 key', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const cose = hex('a4010103272006215820', part(publicKey.export({ format: 'jwk' }).x));
    expect(faultOf(cose, privateKey, null)).toBeUndefined();
  });

  it('is verified with an RS256 key', () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { n, e } = publicKey.export({ format: 'jwk' });
    const cose = hex('a401030339010020590100', part(n), '2143', part(e));
    expect(faultOf(cose, privateKey, 'sha256')).toBeUndefined();
  });

  it('does not match another key, a point off the curve, or bytes that are no key', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    for (const cose of [
      hex('a5010203262001215820', part(x), '225820', part(y)),
      hex('a5010203262001215820', part(x), '225820', part(x)),
      hex('a5010203262001215820', part(x)),
      hex('00'),
    ])
      expect(faultOf(cose, privateKey, 'sha256')).toBe('its signature does not match the key');
  });
});
