import { existsSync, readFileSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { isatty } from 'node:tty';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { readRegularFile } from '../../files/regular-file.ts';
import { originOf } from '../../venue/origin.ts';
import { whyUnreadable } from './files.ts';
import { Secret } from './secret.ts';

/** The source of a token. */
export type TokenSource = 'environment' | 'config' | 'file' | 'credentials' | 'stdin';

/** A token and the addresses that may receive it: all addresses, unless the file restricts them. */
export interface Credential {
  readonly token: Secret;
  /** Scheme, host and port, in the format of `originOf`. */
  readonly origins: readonly string[] | undefined;
}

type Read = { readonly text: string } | { readonly problem: string };

/** Name of the token in the credentials folder of systemd, `$CREDENTIALS_DIRECTORY`. */
const CREDENTIAL = 'tranche_token';
const TOKEN_BYTES_MAX = 64 * 1024;
/** Permissions that a token file must not have: neither its group nor others may read or write it. */
const OTHERS = 0o066;
/** The access list of systemd's folder, which admits only the service, appears as group permissions. */
const OF_SYSTEMD = 0o007;

/** Returns the trimmed content of a file that only its owner can read, or the problem. The owner must be the current user or root. */
export function readTokenFile(path: string): Read {
  return readPrivate(path, OTHERS);
}

/** Like `readTokenFile`, but also accepts a file in the credentials folder of systemd. */
export function readSecretFile(path: string, env: Readonly<Record<string, string | undefined>>): Read {
  const folder = env['CREDENTIALS_DIRECTORY'];
  const isFromSystemd = folder !== undefined && folder !== '' && dirname(path) === folder;
  return readPrivate(path, isFromSystemd ? OF_SYSTEMD : OTHERS);
}

/** Returns the token in the credentials folder of systemd; `undefined` if there is none. */
export function readSystemdToken(folder: string | undefined): Read | undefined {
  if (folder === undefined || folder === '') return undefined;
  const path = join(folder, CREDENTIAL);
  return existsSync(path) ? readPrivate(path, OF_SYSTEMD) : undefined;
}

/** Reads the token from stdin, to its end. */
export function readStdin(): Read {
  if (isatty(0))
    return { problem: 'stdin is a terminal: pipe the token in, for example from a password manager' };
  try {
    const bytes = readFileSync(0);
    return bytes.length > TOKEN_BYTES_MAX
      ? { problem: 'the input on stdin is too large for a token' }
      : { text: bytes.toString('utf8').trim() };
  } catch (cause) {
    return { problem: `stdin cannot be read: ${whyUnreadable(cause)}` };
  }
}

/**
 * Parses a token file. The file contains either only the token, or JSON that binds the token to origins: `{"origin":
 * "https://venue.example", "token": "…"}`. `origin` may also be an array.
 */
export function readCredential(text: string): Credential | { readonly problem: string } {
  if (!text.startsWith('{'))
    return isToken(text) ? { token: new Secret(text), origins: undefined } : NOT_A_TOKEN;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return NOT_A_CREDENTIAL; // omits the message of the parser, which quotes its input
  }
  const read = credentialSchema.safeParse(json);
  if (!read.success) return NOT_A_CREDENTIAL;
  const { origin, token } = read.data;
  const origins = (typeof origin === 'string' ? [origin] : origin).map((each) => originOf(each));
  const known = origins.flatMap((each) => (each === undefined || each === 'null' ? [] : [each]));
  if (known.length !== origins.length) return NOT_A_CREDENTIAL;
  return isToken(token) ? { token: new Secret(token), origins: known } : NOT_A_TOKEN;
}

/** Explains why this program must not send a credential to `address`; `undefined` when it may. */
export function strangerProblem({ origins }: Credential, address: string): string | undefined {
  const origin = originOf(address);
  if (origins === undefined || (origin !== undefined && origins.includes(origin))) return undefined;
  return `the token is bound to ${origins.join(', ')} and must not be sent to ${origin ?? 'this address'}: use another token for this address`;
}

const credentialSchema = z.lazy(() =>
  z.strictObject({
    origin: z.union([z.string().max(2_000), z.array(z.string().max(2_000)).min(1).max(10)]),
    token: z.string(),
  }),
);

/** Returns the token of a file if this program may send it to all of these addresses; otherwise the problem. */
export function readTokenFor(
  file: string,
  addresses: readonly (string | undefined)[],
): { readonly token: Secret } | { readonly problem: string } {
  const read = readTokenFile(file);
  if ('problem' in read) return read;
  const credential = readCredential(read.text);
  if ('problem' in credential) return credential;
  for (const address of addresses) {
    const problem = address === undefined ? undefined : strangerProblem(credential, address);
    if (problem !== undefined) return { problem };
  }
  return { token: credential.token };
}

/** Returns whether an Authorization header may contain the text. */
const isToken = (text: string): boolean => /^[\x21-\x7e]{1,4096}$/u.test(text);
const NOT_A_TOKEN = {
  problem: 'not a valid token: expected 1 to 4096 printable characters on one line',
} as const;
const NOT_A_CREDENTIAL = {
  problem: 'not a valid token file: expected the token alone, or {"origin": "https://…", "token": "…"}',
} as const;

function readPrivate(path: string, forbidden: number): Read {
  // Windows has neither owner nor mode; access depends on the permissions of the folder.
  const refuse = ({ uid, mode }: Stats): string | undefined => {
    if (process.getuid === undefined) return undefined;
    if (uid !== 0 && uid !== process.getuid())
      return 'it belongs to another user, who could modify it: change its owner with "chown"';
    return (mode & forbidden) === 0
      ? undefined
      : `other users of this machine can read or change it: run "chmod 600 ${path}"`;
  };
  try {
    const bytes = readRegularFile(path, { maxBytes: TOKEN_BYTES_MAX, isLinkRefused: true, refuse });
    return { text: bytes.toString('utf8').trim() };
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ELOOP')
      return {
        problem: `${path} is a symbolic link, which another user could redirect: name the file itself`,
      };
    return { problem: `${path} cannot be read: ${whyUnreadable(cause)}` };
  }
}

/** The token of a config with its source. */
export interface GivenToken {
  readonly token: Secret;
  readonly source: TokenSource;
}
