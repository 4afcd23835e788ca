import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { readRegularFile } from '../../files/regular-file.ts';
import { OperatorError } from '../../core/errors.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Head, Line } from './link.ts';

/**
 * The head of a journal with the desk's signature. Store it where nobody who can write the journal can change it. One
 * line of JSON; the signature is Ed25519 (RFC 8032) over the lines that `textOf` joins.
 */
export interface SignedHead {
  /** Hash of the first record, which identifies the chain. */
  readonly chain: string;
  readonly seq: number;
  /** Hash of record `seq`. */
  readonly hash: string;
  /** ISO 8601. */
  readonly at: string;
  /** SubjectPublicKeyInfo, DER, base64. */
  readonly public_key: string;
  /** Base64. */
  readonly signature: string;
}

type Unsigned = Omit<SignedHead, 'public_key' | 'signature'>;

const textOf = ({ chain, seq, hash, at }: Unsigned): Buffer =>
  Buffer.from(['tranche journal head 1', chain, seq, hash, at].join('\n'));

/**
 * Returns the desk's key in `file`; creates it on first use, readable only by its owner.
 *
 * @throws OperatorError `storage` when it cannot be read or created, `data` when it contains no Ed25519 key.
 */
export function deskKey(file: string): KeyObject {
  try {
    const made = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    const descriptor = openSync(file, 'wx', 0o600);
    writeSync(descriptor, made);
    closeSync(descriptor);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
      throw new OperatorError('storage', `the key ${file} cannot be created: ${String(error)}`, error);
  }
  return keyIn(file, (text) => createPrivateKey(text));
}

/** The public key in a PEM file. @throws OperatorError as `deskKey`. */
export const publicKeyIn = (file: string): KeyObject => keyIn(file, (text) => createPublicKey(text));

const KEY_BYTES_MAX = 65_536;

function keyIn(file: string, read: (text: string) => KeyObject): KeyObject {
  let text: string;
  try {
    text = readRegularFile(file, { maxBytes: KEY_BYTES_MAX }).toString();
  } catch (error) {
    throw new OperatorError('storage', `the key ${file} cannot be read: ${String(error)}`, error);
  }
  try {
    const key = read(text);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The error is not repeated, because it may contain parts of the key.
  }
  throw new OperatorError('data', `${file} contains no Ed25519 key in PEM`);
}

/** The public half, as `publicKeyIn` reads it. */
export const publicPem = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'pem' });

/** @throws OperatorError `data` for a journal without records. */
export function signHead(
  journal: { head(): Head; lines(): Iterable<Line> },
  key: KeyObject,
  at: Instant,
): SignedHead {
  const { seq, hash } = journal.head();
  const [first] = journal.lines();
  if (first === undefined)
    throw new OperatorError('data', 'the journal has no records: there is no head to sign');
  const unsigned = { chain: first.hash, seq, hash, at: isoOf(at) };
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return {
    ...unsigned,
    public_key: publicKey.toString('base64'),
    signature: sign(null, textOf(unsigned), key).toString('base64'),
  };
}

/** Whether `key` signed this; without `key`, whether the key in `signed` signed it. */
export function isSigned(signed: SignedHead, key?: KeyObject): boolean {
  try {
    const named = createPublicKey({
      key: Buffer.from(signed.public_key, 'base64'),
      type: 'spki',
      format: 'der',
    });
    if (named.asymmetricKeyType !== 'ed25519' || (key !== undefined && !key.equals(named))) return false;
    return verify(null, textOf(signed), named, Buffer.from(signed.signature, 'base64'));
  } catch {
    return false;
  }
}

/** Reads what `tranche journal head` printed. @throws OperatorError `data`. */
export function readSignedHead(text: string, file: string): SignedHead {
  try {
    const value: unknown = JSON.parse(text);
    if (isSignedHead(value)) return value;
  } catch {
    // Reported below.
  }
  throw new OperatorError('data', `${file} is not a signed head as "tranche journal head" prints it`);
}

const TEXTS = ['chain', 'hash', 'at', 'public_key', 'signature'] as const;
const isSignedHead = (value: unknown): value is SignedHead =>
  typeof value === 'object' &&
  value !== null &&
  'seq' in value &&
  Number.isSafeInteger(value.seq) &&
  TEXTS.every((name) => typeof Reflect.get(value, name) === 'string');
