import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** The page and the challenge of a ceremony. */
export interface Ceremony {
  /** base64url. */
  readonly challenge: string;
  readonly origin: string;
  readonly rpId: string;
}

/** Changes of an assertion by a test. */
export interface Tampering {
  /** Default: counts up. */
  readonly counter?: number;
  /** The person was present but not verified. */
  readonly isUnverified?: boolean;
  readonly signWith?: KeyObject;
  readonly type?: string;
  /** A page of another origin contained the page. */
  readonly crossOrigin?: boolean;
}

/** A passkey in software: it enrols and signs as a device does. */
export interface SoftPasskey {
  readonly id: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
  register(ceremony: Ceremony, tampering?: Pick<Tampering, 'crossOrigin'>): object;
  assert(ceremony: Ceremony, tampering?: Tampering): object;
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

export function aPasskey(): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const id = randomBytes(32);
  const cose = coseOf(Buffer.from(jwk.x ?? '', 'base64url'), Buffer.from(jwk.y ?? '', 'base64url'));
  let uses = 0;
  return {
    id: id.toString('base64url'),
    publicKey: cose.toString('base64url'),
    privateKey,
    register: (ceremony, { crossOrigin } = {}) => {
      const credential = Buffer.concat([Buffer.alloc(16), uint16(id.length), id, cose]);
      const flags = USER_PRESENT | USER_VERIFIED | HAS_CREDENTIAL;
      const data = Buffer.concat([authenticatorData(ceremony, flags, 0), credential]);
      return {
        ...envelope(id),
        response: {
          clientDataJSON: clientData('webauthn.create', ceremony, crossOrigin).toString('base64url'),
          attestationObject: attestation(data).toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    assert: (ceremony, { counter, isUnverified = false, signWith = privateKey, type, crossOrigin } = {}) => {
      uses = counter ?? uses + 1;
      const data = authenticatorData(ceremony, USER_PRESENT | (isUnverified ? 0 : USER_VERIFIED), uses);
      const client = clientData(type ?? 'webauthn.get', ceremony, crossOrigin);
      return {
        ...envelope(id),
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: sign('sha256', Buffer.concat([data, sha256(client)]), signWith).toString('base64url'),
        },
      };
    },
  };
}

const envelope = (id: Buffer): object => ({
  id: id.toString('base64url'),
  rawId: id.toString('base64url'),
  type: 'public-key',
  clientExtensionResults: {},
});

const clientData = (type: string, { challenge, origin }: Ceremony, crossOrigin = false): Buffer =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }));

function authenticatorData({ rpId }: Ceremony, flags: number, counter: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), count]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

// The part of CBOR that is needed (RFC 8949).
const bytes = (data: Buffer): Buffer =>
  data.length < 24
    ? Buffer.concat([Buffer.from([0x40 | data.length]), data])
    : data.length < 256
      ? Buffer.concat([Buffer.from([0x58, data.length]), data])
      : Buffer.concat([Buffer.from([0x59]), uint16(data.length), data]);
const word = (text: string): Buffer => Buffer.concat([Buffer.from([0x60 | text.length]), Buffer.from(text)]);

/** A map of: key type EC2, algorithm ES256, curve P-256, x, y (RFC 9053). */
const coseOf = (x: Buffer, y: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    bytes(x),
    Buffer.from([0x22]),
    bytes(y),
  ]);

const attestation = (data: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from([0xa3]),
    word('fmt'),
    word('none'),
    word('attStmt'),
    Buffer.from([0xa0]),
    word('authData'),
    bytes(data),
  ]);
