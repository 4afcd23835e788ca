import { dirname, resolve } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { exitCodes, OperatorError, VenueError } from '../../../core/errors.ts';
import { toObservable } from '../../../engine/maybe-async.ts';
import type { MaybeAsync } from '../../../engine/maybe-async.ts';
import type { Clock, Random } from '../../../engine/ports.ts';
import { accountRoutes, accountVenue } from '../../../venue/account.ts';
import type { AccountVenue } from '../../../venue/account.ts';
import { venueHttp } from '../../../venue/http.ts';
import type { Route } from '../../../venue/routes.ts';
import type { VenueHttp } from '../../../venue/http.ts';
import { unusable } from '../../config/config.ts';
import { readCertificates } from '../../config/authority.ts';
import { readCredential, readStdin, readTokenFile, strangerProblem } from '../../config/credential.ts';
import { readFile } from '../../config/files.ts';
import type { Secret } from '../../config/secret.ts';
import { version } from '../../version.ts';
import { safe } from './account-print.ts';
import type { PrintOptions } from './account-print.ts';
import type { CommandIo } from '../io.ts';

/** Options that every account command accepts. */
export interface AccountOptions extends PrintOptions {
  readonly baseUrl?: string | undefined;
  /** Config of which the commands use only `venue.base_url` and `venue.ca_file`. */
  readonly config?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** Options of commands that move money or change who may move it. */
export interface MovingOptions extends AccountOptions {
  readonly yes?: boolean | undefined;
}

export interface AccountIo extends CommandIo {
  readonly clock: Clock;
  readonly random: Random;
  /** Asks the person at the terminal; `undefined` without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
}

/** A session with the venue under the operator's token. */
export interface Session {
  readonly venue: AccountVenue;
  readonly http: VenueHttp;
  readonly baseUrl: string;
  readonly token: Secret;
  readonly onExtras: (resource: string, names: readonly string[]) => void;
}

/**
 * Runs a command against the account. Turns a failure of the venue or the network into a message and an exit code: 64
 * usage, 69 when the venue refuses or does not respond, 75 too many requests, 78 no token or URL.
 */
export async function withAccount(
  options: AccountOptions,
  io: AccountIo,
  command: (session: Session) => Promise<number>,
  routes: readonly Route[] = accountRoutes,
): Promise<number> {
  const { baseUrl, ca } = addressOf(options, io);
  const token = tokenOf(options, io, baseUrl);
  const http = venueHttp({ baseUrl, token, routes, clock: io.clock, version, ca });
  const onExtras = (resource: string, names: readonly string[]): void => {
    io.stderr.write(`note: unknown fields in ${resource}: ${names.join(', ')}\n`);
  };
  try {
    return await command({ venue: accountVenue({ http, onExtras }), http, baseUrl, token, onExtras });
  } catch (error) {
    if (!(error instanceof VenueError)) throw error;
    io.stderr.write(`${explainFailure(error, baseUrl)}\n`);
    return error.code === 'rate_limited' ? exitCodes.again : exitCodes.unavailable;
  } finally {
    await http.close();
  }
}

/** Waits for the response to a call. */
export const answerOf = async <T>(call: MaybeAsync<T>): Promise<T> =>
  await firstValueFrom(toObservable(call));

/** Returns the error message for the operator. After a lost response, the message states that the outcome is unknown. */
function explainFailure(error: VenueError, baseUrl: string): string {
  // The venue's message already ends with a full stop.
  const said = error.said === undefined ? '' : `: ${safe(error.said).replace(/\.+$/u, '')}`;
  if (error.applied === 'unknown') {
    return [
      `It is unknown whether the venue carried out the request (${error.code}${said}).`,
      'Before you repeat the command, check whether the change took effect: see tranche account transactions --pending, and the list that the command changes.',
    ].join('\n');
  }
  switch (error.code) {
    case 'certificate':
      return `Nothing was sent${said}. To trust a private authority, set venue.ca_file in the file of --config.`;
    case 'connect':
    case 'timeout':
    case 'broken':
      return `The venue at ${baseUrl} did not respond (${error.code}). Nothing was changed.`;
    case 'unauthorised':
      return error.status === 403
        ? `The token is not authorized for this action${said}.`
        : `The venue rejected this token${said}. Set TRANCHE_OPERATOR_TOKEN or --token-file to a valid one.`;
    case 'rate_limited':
      return `Too many requests${said}. Try again in ${Math.ceil((error.retryAfterMs ?? 10_000) / 1000)} s.`;
    case 'unavailable':
      return `The venue is unavailable${said}. Nothing was changed.`;
    case 'refused':
      return error.status === 404
        ? `The venue does not have this route or resource${said}.`
        : `The venue refused the request${said}.`;
    case 'redirect':
    case 'unreadable':
    case 'too_large':
    case 'forbidden_route':
      return `The venue sent an invalid response (${error.code}${said}).`;
  }
}

const TOKEN_VARIABLE = 'TRANCHE_OPERATOR_TOKEN';

function tokenOf({ tokenFile }: AccountOptions, { env, cwd }: AccountIo, baseUrl: string): Secret {
  const refuse = (message: string): OperatorError => new OperatorError('config', message);
  const given = givenToken(tokenFile, cwd) ?? { text: env[TOKEN_VARIABLE]?.trim() ?? '' };
  const name = tokenFile === undefined ? TOKEN_VARIABLE : '--token-file';
  if ('problem' in given) throw refuse(`${name}: ${given.problem}`);
  if (given.text === '' && tokenFile !== undefined) throw refuse(`${name}: ${tokenFile} is empty`);
  if (given.text === '') {
    throw refuse(
      `No operator token: set ${TOKEN_VARIABLE} or use --token-file. The desk's token is never used here.`,
    );
  }
  const credential = readCredential(given.text);
  if ('problem' in credential) throw refuse(`${name}: ${credential.problem}`);
  const problem = strangerProblem(credential, baseUrl);
  if (problem !== undefined) throw refuse(`${name}: ${problem}`);
  return credential.token;
}

const givenToken = (file: string | undefined, cwd: string): ReturnType<typeof readTokenFile> | undefined => {
  if (file === undefined) return undefined;
  return file === '-' ? readStdin() : readTokenFile(resolve(cwd, file));
};

interface Address {
  readonly baseUrl: string;
  /** Certificates of the only authorities to trust, PEM. */
  readonly ca: string | undefined;
}

function addressOf({ baseUrl, config }: AccountOptions, { env, cwd }: AccountIo): Address {
  if (baseUrl !== undefined) return { baseUrl, ca: undefined };
  const file = config ?? env['TRANCHE_CONFIG'];
  if (file === undefined) {
    throw new OperatorError(
      'config',
      'No venue URL: use --base-url, or --config with a file that contains venue.base_url.',
    );
  }
  // The desk's token is not needed here, so a missing variable for it is not a problem.
  const { documents, problems } = readFile(resolve(cwd, file), {
    env: { TRANCHE_TOKEN: 'unused', ...env },
    cwd,
  });
  const venue = valueAt(documents[0]?.value, 'venue');
  const found = valueAt(venue, 'base_url');
  if (typeof found === 'string')
    return { baseUrl: found, ca: authorityOf(valueAt(venue, 'ca_file'), dirname(resolve(cwd, file))) };
  if (problems.length > 0) throw unusable(problems);
  throw new OperatorError('config', `${file} has no venue.base_url: use --base-url.`);
}

function authorityOf(file: unknown, folder: string): string | undefined {
  if (typeof file !== 'string') return undefined;
  const read = readCertificates(resolve(folder, file));
  if ('problem' in read) throw new OperatorError('config', `venue.ca_file: ${read.problem}`);
  return read.pem;
}

const valueAt = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

/**
 * Asks a person to confirm the action. `--yes` confirms in advance, for scripts.
 *
 * @throws OperatorError `usage` when nobody can be asked.
 */
export async function confirmed(what: string, { yes }: MovingOptions, io: AccountIo): Promise<boolean> {
  io.stderr.write(`${what}\n`);
  if (yes === true) return true;
  if (io.ask === undefined) {
    throw new OperatorError('usage', 'This command needs confirmation: add --yes, or run it in a terminal.');
  }
  const answer = await io.ask('Type "yes" to continue: ');
  if (answer.trim().toLowerCase() === 'yes') return true;
  io.stderr.write('Nothing was done.\n');
  return false;
}
