import { createPublicKey, hash, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** An assertion, each part base64url as a browser sends it. */
export interface PasskeyAssertion {
  readonly credential_id: string;
  readonly authenticator_data: string;
  readonly client_data_json: string;
  readonly signature: string;
}

/** A public key that a person enrolled: COSE, base64url. */
export interface PublicPasskey {
  readonly id: string;
  readonly public_key: string;
}

/** Where a passkey may sign: its host, and the desk's pages on which it enrolled or signed in. */
export interface PasskeyHome {
  readonly rpId: string;
  readonly origins: readonly string[];
}

/** Maximum number of pages kept. A desk serves one page to its own machine and another to everybody else. */
const ORIGINS_MAX = 10;

/** The home of a passkey after one more use, as the journal stores it. */
export function homeAfter(
  home: PasskeyHome | undefined,
  { origin, rp_id: rpId }: { readonly origin?: string | undefined; readonly rp_id?: string | undefined },
): PasskeyHome | undefined {
  if (origin === undefined || rpId === undefined) return home;
  const others = home?.rpId === rpId ? home.origins.filter((one) => one !== origin) : [];
  return { rpId, origins: [...others, origin].slice(-ORIGINS_MAX) };
}

/** Flags of the authenticator data: user present, and user verified. */
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
/** Total length of the relying party's SHA-256, the flags and the counter, in bytes. */
const AUTHENTICATOR_DATA_MIN = 37;

/**
 * Why this assertion is not that key's signature over that hash, in words; `undefined` if it is. Uses only its
 * arguments, so that anyone with the journal can verify its approvals: WebAuthn level 3, section 7.2, without the steps
 * that need the browser's session. `challenge`: SHA-256 of the signed data, hexadecimal. Without `home`, the page is
 * compared only with the signed host.
 */
export function assertionFault(
  assertion: PasskeyAssertion,
  { challenge, passkey, home }: { challenge: string; passkey: PublicPasskey; home?: PasskeyHome | undefined },
): string | undefined {
  if (assertion.credential_id !== passkey.id) return 'it was made with another passkey';
  const clientData = bytesOf(assertion.client_data_json);
  const data = bytesOf(assertion.authenticator_data);
  const client = clientDataOf(clientData);
  if (client === undefined) return 'its client data is not valid JSON';
  if (client.type !== 'webauthn.get') return 'its client data does not belong to an assertion';
  const signed = bytesOf(client.challenge).toString('hex');
  if (signed !== challenge) return 'it signs a different request';
  if (data.length < AUTHENTICATOR_DATA_MIN) return 'its authenticator data is too short';
  const host = hostOf(client.origin);
  const party = data.subarray(0, 32);
  const parties = home === undefined ? partiesOf(host) : [home.rpId];
  if (host === undefined || !parties.some((id) => isHashOf(party, id)))
    return `it was not made for this desk, but at ${client.origin}`;
  if (home !== undefined && !home.origins.includes(client.origin))
    return `it was made at ${client.origin}, where the passkey has not signed in`;
  if (client.crossOrigin === true) return 'it was made inside a page of another origin';
  const flags = data[32] ?? 0;
  if ((flags & USER_PRESENT) === 0) return 'it does not prove that a user was present';
  if ((flags & USER_VERIFIED) === 0) return 'the passkey did not verify the user';
  const signedBytes = Buffer.concat([data, hash('sha256', clientData, 'buffer')]);
  return isSignedBy(passkey.public_key, signedBytes, bytesOf(assertion.signature))
    ? undefined
    : 'its signature does not match the key';
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url');

interface ClientData {
  readonly type: unknown;
  readonly challenge: string;
  readonly origin: string;
  readonly crossOrigin?: unknown;
}

function clientDataOf(bytes: Buffer): ClientData | undefined {
  try {
    const read: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof read !== 'object' || read === null) return undefined;
    const { type, challenge, origin, crossOrigin } = read as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- looked at below
    if (typeof challenge !== 'string' || typeof origin !== 'string') return undefined;
    return { type, challenge, origin, crossOrigin };
  } catch {
    return undefined;
  }
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).hostname : undefined;
}

/** A relying party is the host of the page, or a domain that contains the host. */
const partiesOf = (host = ''): readonly string[] =>
  host.split('.').map((_part, at, parts) => parts.slice(at).join('.'));

const isHashOf = (digest: Buffer, text: string): boolean => hash('sha256', text, 'buffer').equals(digest);

function isSignedBy(cose: string, signed: Buffer, signature: Buffer): boolean {
  try {
    const { key, digest } = keyOf(decodeMap(bytesOf(cose)));
    return verify(digest, signed, key, signature);
  } catch {
    // An unreadable key or signature verifies nothing.
    return false;
  }
}

/** Labels of COSE (RFC 9052, RFC 9053): key type, algorithm, and the parameters of each type. */
const KEY_TYPE = 1;
const ALGORITHM = 3;
const CURVE_OR_MODULUS = -1;
const X_OR_EXPONENT = -2;
const Y = -3;
const [ES256, EDDSA, RS256] = [-7, -8, -257];

/** The three algorithms of passkeys: ES256 on P-256, EdDSA on Ed25519, RS256. */
function keyOf(cose: ReadonlyMap<number, number | Buffer>): { key: KeyObject; digest: string | null } {
  const type = cose.get(KEY_TYPE);
  const part = (label: number): string => {
    const value = cose.get(label);
    if (!Buffer.isBuffer(value)) throw new RangeError(`COSE: no bytes at ${label}`);
    return value.toString('base64url');
  };
  const made = (jwk: Readonly<Record<string, string>>): KeyObject =>
    createPublicKey({ key: jwk, format: 'jwk' });
  switch (cose.get(ALGORITHM)) {
    case ES256:
      if (type !== 2 || cose.get(CURVE_OR_MODULUS) !== 1) break;
      return { key: made({ kty: 'EC', crv: 'P-256', x: part(X_OR_EXPONENT), y: part(Y) }), digest: 'sha256' };
    case EDDSA:
      if (type !== 1 || cose.get(CURVE_OR_MODULUS) !== 6) break;
      return { key: made({ kty: 'OKP', crv: 'Ed25519', x: part(X_OR_EXPONENT) }), digest: null };
    case RS256:
      if (type !== 3) break;
      return {
        key: made({ kty: 'RSA', n: part(CURVE_OR_MODULUS), e: part(X_OR_EXPONENT) }),
        digest: 'sha256',
      };
    default:
  }
  throw new RangeError('COSE: not a key of an algorithm that passkeys use');
}

/** A CBOR map from integers to integers and byte strings (RFC 8949), which is all that a COSE key contains. */
function decodeMap(bytes: Buffer): ReadonlyMap<number, number | Buffer> {
  let at = 0;
  const head = (): { major: number; value: number } => {
    const first = bytes.readUInt8(at++);
    const short = first & 0x1f;
    if (short < 24) return { major: first >> 5, value: short };
    const length = { 24: 1, 25: 2, 26: 4 }[short];
    if (length === undefined) throw new RangeError('CBOR: a length that is not valid in a key');
    const value = bytes.readUIntBE(at, length);
    at += length;
    return { major: first >> 5, value };
  };
  const item = (): number | Buffer => {
    const { major, value } = head();
    if (major === 0) return value;
    if (major === 1) return -1 - value;
    if (major !== 2 || at + value > bytes.length) throw new RangeError('CBOR: neither an integer nor bytes');
    at += value;
    return bytes.subarray(at - value, at);
  };
  const { major, value: entries } = head();
  if (major !== 5 || entries > 16) throw new RangeError('CBOR: no map');
  const map = new Map<number, number | Buffer>();
  for (let entry = 0; entry < entries; entry++) {
    const label = item();
    if (typeof label !== 'number' || map.has(label)) throw new RangeError('CBOR: no label, or one twice');
    map.set(label, item());
  }
  return map;
}
