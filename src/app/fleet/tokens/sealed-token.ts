import { createCipheriv, createDecipheriv, createSecretKey, hash, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { OperatorError } from '../../../core/errors.ts';
import { readSecretFile } from '../../config/credential.ts';
import { Secret } from '../../config/secret.ts';
import type { Environment } from '../../config/yaml.ts';

/** The venue token of a desk, as one owner passes it to the next. */
export interface KeptToken {
  /** Account id of the journal: the same for every token of the account. */
  readonly account: string;
  /** Scheme, host and port that the token may be sent to. */
  readonly origin: string;
  readonly token: Secret;
  /** `tokenDigest` of the tokens that it replaced, newest first. */
  readonly former: readonly string[];
}

/** The desk and version that an encrypted token belongs to. It cannot be decrypted for another. */
export interface TokenPlace {
  readonly desk: string;
  readonly version: number;
}

const KEY = 'TRANCHE_TOKEN_KEY';
const KEY_FILE = 'TRANCHE_TOKEN_KEY_FILE';
const KEY_BYTES = 32;
const CIPHER = 'aes-256-gcm';
/** Length that NIST SP 800-38D recommends for random nonces; one key encrypts far fewer than 2^32 tokens. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 'v1';

const contentSchema = z.strictObject({
  account: z.string(),
  origin: z.string(),
  token: z.string(),
  former: z.array(z.string()),
});

export const tokenDigest = (token: Secret): string => hash('sha256', token.reveal(), 'hex');

/**
 * Reads the key that all daemons of a fleet share. Returns `undefined` if neither variable is set.
 *
 * @throws OperatorError `config` if both variables are set, the key is not 32 bytes in base64, or its file cannot be used
 */
export function readTokenKey(
  env: Environment,
): { readonly key: KeyObject; readonly text: Secret | undefined } | undefined {
  const [given, file] = [env[KEY], env[KEY_FILE]];
  if (given !== undefined && file !== undefined)
    throw new OperatorError('config', `give either ${KEY} or ${KEY_FILE}, not both`);
  if (given !== undefined) return { key: keyOf(given, KEY), text: new Secret(given) };
  if (file === undefined) return undefined;
  const read = readSecretFile(file, env);
  if ('problem' in read) throw new OperatorError('config', `${KEY_FILE}: ${read.problem}`);
  return { key: keyOf(read.text, file), text: undefined };
}

function keyOf(text: string, where: string): KeyObject {
  const bytes = Buffer.from(text.trim(), 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== text.trim())
    throw new OperatorError(
      'config',
      `${where} is not a key for tokens: expected ${KEY_BYTES} random bytes in base64, as "openssl rand -base64 ${KEY_BYTES}" prints them`,
    );
  return createSecretKey(bytes);
}

/** Encrypts a token with AES-256-GCM, with desk and version as associated data. */
export function sealToken({ token, ...rest }: KeptToken, place: TokenPlace, key: KeyObject): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(boundTo(place));
  const text = JSON.stringify({ ...rest, token: token.reveal() });
  const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return [FORMAT, ...[nonce, cipher.getAuthTag(), bytes].map((part) => part.toString('base64url'))].join('.');
}

/** Decrypts a token. Returns `undefined` if it has another key, desk, version or format, or was changed. */
export function openToken(sealed: string, place: TokenPlace, key: KeyObject): KeptToken | undefined {
  const [format, nonce = '', tag = '', bytes = ''] = sealed.split('.');
  if (format !== FORMAT) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, key, Buffer.from(nonce, 'base64url'), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(boundTo(place))
      .setAuthTag(Buffer.from(tag, 'base64url'));
    const text = Buffer.concat([decipher.update(Buffer.from(bytes, 'base64url')), decipher.final()]);
    const { token, ...rest } = contentSchema.parse(JSON.parse(text.toString('utf8')));
    return { ...rest, token: new Secret(token) };
  } catch {
    // The message is dropped, because it may quote the text that could not be parsed.
    return undefined;
  }
}

/** Returns the error for a token that the key of this machine does not decrypt. */
export const undecipherable = ({ desk, version }: TokenPlace): OperatorError =>
  new OperatorError(
    'config',
    `version ${version} of the token of desk ${desk} cannot be decrypted: it was encrypted with another key, or changed. Give this machine the key of the other daemons; if that key is lost, docs/fleet.md says how to start with a new key`,
  );

/** Largest number of former tokens that a desk recognizes. */
const FORMER_MAX = 50;

/** Returns the digests of the former tokens once `next` has replaced the current one. */
export const formerOf = ({ token, former }: KeptToken, next: Secret): readonly string[] =>
  [tokenDigest(token), ...former].filter((one) => one !== tokenDigest(next)).slice(0, FORMER_MAX);

const boundTo = ({ desk, version }: TokenPlace): Buffer =>
  Buffer.from(JSON.stringify(['tranche desk token', FORMAT, desk, version]));
