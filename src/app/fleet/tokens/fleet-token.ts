import { resolve } from 'node:path';
import { OperatorError } from '../../../core/errors.ts';
import { readPostgresUrl, withDesk } from '../../../journal/postgres/postgres-url.ts';
import { whoami } from '../../commands/io.ts';
import type { CommandIo } from '../../commands/io.ts';
import { readTokenFor } from '../../config/credential.ts';
import { formerOf, openToken, readTokenKey, sealToken, undecipherable } from './sealed-token.ts';
import { TokenStore } from './token-store.ts';

export interface FleetTokenOptions {
  readonly store: string;
  /** File with the new token. */
  readonly tokenFile: string;
  readonly why?: string | undefined;
  readonly by?: string | undefined;
}

/**
 * Replaces the token of a desk in the store. The desk's owner uses the token once the venue accepts it. If the desk has no owner, the
 * next owner starts with the token.
 */
export async function fleetToken(
  desk: string,
  { store: url, tokenFile, why = 'tranche fleet token', by }: FleetTokenOptions,
  io: CommandIo,
): Promise<void> {
  const read = readTokenKey(io.env);
  if (read === undefined)
    throw new OperatorError('config', 'set TRANCHE_TOKEN_KEY_FILE to the key file of the daemons');
  const store = new TokenStore(readPostgresUrl(withDesk(url, desk)).connectionString);
  const stored = await store.read(desk);
  if (stored === undefined)
    throw new OperatorError(
      'usage',
      `the store has no token of desk ${desk}: the desk stores one when it trades with the key`,
    );
  const kept = openToken(stored.sealed, stored, read.key);
  if (kept === undefined) throw undecipherable(stored);
  const given = readTokenFor(resolve(io.cwd, tokenFile), [kept.origin]);
  if ('problem' in given) throw new OperatorError('config', given.problem);
  const { token } = given;
  if (token.reveal() === kept.token.reveal()) {
    io.stderr.write(`desk ${desk} already has this token, as version ${stored.version}\n`);
    return;
  }
  const place = { desk, version: stored.version + 1 };
  const sealed = sealToken({ ...kept, token, former: formerOf(kept, token) }, place, read.key);
  if (!(await store.write({ ...place, sealed, person: by ?? whoami(io), why })))
    throw new OperatorError(
      'again',
      `the token of desk ${desk} was replaced in the meantime: run this command again`,
    );
  io.stderr.write(
    `the store has version ${place.version} of the token of desk ${desk}; a running desk uses it within a minute, once the venue accepts it\n`,
  );
}
