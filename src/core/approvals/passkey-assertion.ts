import { createPublicKey, hash, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** An assertion, each part base64url as a browser sends it. */
export interface PasskeyAssertion {
  readonly credential_id: string;
  readonly authenticator_data: string;
  readonly client_data_json: string;
  readonly signature: string;
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
 * that need the browser's session. `challenge`: SHA-256 of the signed data, hexadecimal. `publicKey`: COSE, base64url.
 */
export function assertionFault(
  assertion: PasskeyAssertion,
  challenge: string,
  {
    id,
    publicKey,
    counter = 0,
    home,
  }: { id: string; publicKey: string; counter?: number; home?: PasskeyHome | undefined },
): string | undefined {
  if (assertion.credential_id !== id) return 'it was made with another passkey';
  const clientData = bytesOf(assertion.client_data_json);
  const data = bytesOf(assertion.authenticator_data);
  const client = clientDataOf(clientData);
  if (client === undefined) return 'its client data is not valid JSON';
  const [page, type] = [String(client['origin']), client['type']];
  if (type !== 'webauthn.get') return 'its client data does not belong to an assertion';
  if (bytesOf(String(client['challenge'])).toString('hex') !== challenge)
    return 'it signs a different request';
  if (data.length < AUTHENTICATOR_DATA_MIN) return 'its authenticator data is too short';
  if (home === undefined) return 'the page on which this passkey signs is unknown: sign in with it once';
  if (!hash('sha256', home.rpId, 'buffer').equals(data.subarray(0, 32)))
    return `it was not made for this desk, but at ${page}`;
  if (!home.origins.includes(page)) return `it was made at ${page}, where the passkey has not signed in`;
  if (isCrossOrigin(assertion.client_data_json)) return 'it was made inside a page of another origin';
  const uses = usesIn(assertion);
  // Authenticators that do not count always report 0.
  if (uses <= counter && uses + counter > 0)
    return 'its counter did not rise: the passkey may have been copied';
  const flags = data[32] ?? 0;
  if ((flags & USER_PRESENT) === 0) return 'it does not prove that a user was present';
  if ((flags & USER_VERIFIED) === 0) return 'the passkey did not verify the user';
  const signedBytes = Buffer.concat([data, hash('sha256', clientData, 'buffer')]);
  return isSignedBy(publicKey, signedBytes, bytesOf(assertion.signature))
    ? undefined
    : 'its signature does not match the key';
}

/** Number of uses of the passkey, as its authenticator reports it. */
export function usesIn(assertion: PasskeyAssertion): number {
  const data = bytesOf(assertion.authenticator_data);
  return data.length < AUTHENTICATOR_DATA_MIN ? 0 : data.readUInt32BE(33);
}

/** Whether the browser says that a page of another origin contained the page. `data`: `clientDataJSON`, base64url. */
export const isCrossOrigin = (data: string): boolean => clientDataOf(bytesOf(data))?.['crossOrigin'] === true;

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url');

/** The fields of the client data; `undefined` if it is no JSON object. */
function clientDataOf(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const read: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof read === 'object' && read !== null ? { ...read } : undefined;
  } catch {
    return undefined;
  }
}

function isSignedBy(cose: string, signed: Buffer, signature: Buffer): boolean {
  try {
    const known = keyOf(bytesOf(cose));
    return known !== undefined && verify(known.digest, signed, known.key, signature);
  } catch {
    // A point that is not on its curve verifies nothing.
    return false;
  }
}

/**
 * The keys of the three algorithms of passkeys, ES256 on P-256, EdDSA on Ed25519 and RS256, in hexadecimal: COSE (RFC
 * 9053) in the one encoding that WebAuthn allows.
 */
const ES256 = /^a5010203262001215820(?<x>[0-9a-f]{64})225820(?<y>[0-9a-f]{64})$/u;
const EDDSA = /^a4010103272006215820(?<x>[0-9a-f]{64})$/u;
const RS256 = /^a401030339010020590100(?<n>[0-9a-f]{512})2143(?<e>[0-9a-f]{6})$/u;

/** `undefined`: not a key of these algorithms. */
function keyOf(cose: Buffer): { readonly key: KeyObject; readonly digest: string | null } | undefined {
  const hex = cose.toString('hex');
  const found = ES256.exec(hex) ?? EDDSA.exec(hex) ?? RS256.exec(hex);
  if (found === null) return undefined;
  const part = (name: string): string => Buffer.from(found.groups?.[name] ?? '', 'hex').toString('base64url');
  const made = (key: Readonly<Record<string, string>>): KeyObject => createPublicKey({ key, format: 'jwk' });
  const [x, y, n] = [part('x'), part('y'), part('n')] as const;
  if (n !== '') return { key: made({ kty: 'RSA', n, e: part('e') }), digest: 'sha256' };
  if (y !== '') return { key: made({ kty: 'EC', crv: 'P-256', x, y }), digest: 'sha256' };
  return { key: made({ kty: 'OKP', crv: 'Ed25519', x }), digest: null };
}
