import { dirname, resolve } from 'node:path';
import { exitCodes, OperatorError, VenueError } from '../../../core/errors.ts';
import { forTerminal } from '../../../core/text/escape.ts';
import { accountCall, accountRoutes } from '../../../venue/account.ts';
import type { AccountCall } from '../../../venue/account.ts';
import { venueHttp } from '../../../venue/http.ts';
import type { HttpOptions } from '../../../venue/http.ts';
import { unusable } from '../../config/config.ts';
import { readCertificates } from '../../config/authority.ts';
import { readCredential, readStdin, readTokenFile, strangerProblem } from '../../config/credential.ts';
import { readFile } from '../../config/files.ts';
import type { Secret } from '../../config/secret.ts';
import { readProxy } from '../../config/venue-proxy.ts';
import { systemClock } from '../../daemon/clock.ts';
import { version } from '../../version.ts';
import type { CommandIo, Given } from '../io.ts';

export type AccountOptions = Given<'baseUrl' | 'config' | 'tokenFile', 'json' | 'yes'>;

export interface AccountIo extends CommandIo {
  /** Asks the person at the terminal; `undefined` without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
}

/**
 * Runs a command that calls the venue under the operator's token. Turns a failure of the venue or the network into a message and an
 * exit code: 64 usage, 69 when the venue refuses or does not respond, 75 too many requests, 78 no token or URL.
 */
export async function withAccount(
  options: AccountOptions,
  io: AccountIo,
  command: (call: AccountCall) => Promise<number>,
): Promise<number> {
  const { baseUrl, ...way } = addressOf(options, io);
  const token = tokenOf(options, io, baseUrl);
  const http = venueHttp({
    baseUrl,
    token,
    routes: accountRoutes,
    clock: systemClock,
    version,
    ...way,
    headersTimeoutMs: 15_000,
  });
  const onExtras = (resource: string, names: readonly string[]): void => {
    io.stderr.write(`note: unknown fields in ${resource}: ${names.join(', ')}\n`);
  };
  try {
    return await command(accountCall({ http, onExtras }));
  } catch (error) {
    if (!(error instanceof VenueError)) throw error;
    io.stderr.write(`${explainFailure(error, baseUrl)}\n`);
    return error.code === 'rate_limited' ? exitCodes.again : exitCodes.unavailable;
  } finally {
    await http.close();
  }
}

/** Returns the error message for the operator. After a lost response, the message states that the outcome is unknown. */
function explainFailure(error: VenueError, baseUrl: string): string {
  const { code, status, retryAfterMs = 10_000 } = error;
  // The venue's message already ends with a full stop.
  const said = error.said === undefined ? '' : `: ${forTerminal(error.said).replace(/\.+$/u, '')}`;
  if (error.applied === 'unknown')
    return `It is unknown whether the venue carried out the request (${code}${said}).\nBefore you repeat the command, check whether the change took effect: see tranche account transactions --pending true, order --id, and the list that the command changes.`;
  switch (code) {
    case 'certificate':
      return `Nothing was sent${said}. To trust a private authority, set venue.ca_file in the file of --config.`;
    case 'connect':
    case 'timeout':
    case 'broken':
      return `The venue at ${baseUrl} did not respond (${code}). Nothing was changed.`;
    case 'unauthorised':
      if (status === 403) return `The token is not authorized for this action${said}.`;
      return `The venue rejected this token${said}. Set TRANCHE_OPERATOR_TOKEN or --token-file to a valid one.`;
    case 'rate_limited':
      return `Too many requests${said}. Try again in ${Math.ceil(retryAfterMs / 1000)} s.`;
    case 'unavailable':
      return `The venue is unavailable${said}. Nothing was changed.`;
    case 'refused':
      if (status === 404) return `The venue does not have this route or resource${said}.`;
      return `The venue refused the request${said}.`;
    default:
      return `The venue sent an invalid response (${code}${said}).`;
  }
}

const TOKEN_VARIABLE = 'TRANCHE_OPERATOR_TOKEN';

function tokenOf({ tokenFile }: AccountOptions, { env, cwd }: AccountIo, baseUrl: string): Secret {
  const name = tokenFile === undefined ? TOKEN_VARIABLE : '--token-file';
  const refuse = (problem: string): OperatorError => new OperatorError('config', `${name}: ${problem}`);
  let given: ReturnType<typeof readTokenFile> = { text: env[TOKEN_VARIABLE]?.trim() ?? '' };
  if (tokenFile !== undefined)
    given = tokenFile === '-' ? readStdin() : readTokenFile(resolve(cwd, tokenFile));
  if ('problem' in given) throw refuse(given.problem);
  if (given.text === '' && tokenFile !== undefined) throw refuse(`${tokenFile} is empty`);
  if (given.text === '')
    throw new OperatorError('config', `No operator token: set ${TOKEN_VARIABLE} or use --token-file. The desk's token is never used here.`); // prettier-ignore
  const credential = readCredential(given.text);
  if ('problem' in credential) throw refuse(credential.problem);
  const problem = strangerProblem(credential, baseUrl);
  if (problem !== undefined) throw refuse(problem);
  return credential.token;
}

/** Returns the URL of the venue, the certificates of the only authorities to trust, PEM, and the proxy. */
function addressOf(
  { baseUrl, config }: AccountOptions,
  { env, cwd }: AccountIo,
): Pick<HttpOptions, 'baseUrl' | 'ca' | 'proxy'> {
  if (baseUrl !== undefined) return { baseUrl };
  const file = config ?? env['TRANCHE_CONFIG'];
  if (file === undefined)
    throw new OperatorError('config', 'No venue URL: use --base-url, or --config with a file that contains venue.base_url.'); // prettier-ignore
  // The desk's token is not needed here, so a missing variable for it is not a problem.
  const { documents, problems } = readFile(resolve(cwd, file), { env: { TRANCHE_TOKEN: 'unused', ...env }, cwd }); // prettier-ignore
  const venue = valueAt(documents[0]?.value, 'venue');
  const [found, ca] = [valueAt(venue, 'base_url'), valueAt(venue, 'ca_file')];
  if (typeof found !== 'string')
    throw problems.length > 0 ? unusable(problems) : new OperatorError('config', `${file} has no venue.base_url: use --base-url.`); // prettier-ignore
  const textAt = (key: string): string | undefined => {
    const value = valueAt(venue, key);
    return typeof value === 'string' ? value : undefined;
  };
  const settings = {
    proxy_url: textAt('proxy_url'),
    proxy_credentials_file: textAt('proxy_credentials_file'),
  };
  const proxy = readProxy({ ...settings, base_url: found }, resolve(cwd, dirname(file)));
  if (proxy !== undefined && 'problem' in proxy)
    throw new OperatorError('config', `venue.${proxy.key}: ${proxy.problem}`);
  if (typeof ca !== 'string') return { baseUrl: found, proxy };
  const read = readCertificates(resolve(cwd, dirname(file), ca));
  if ('problem' in read) throw new OperatorError('config', `venue.ca_file: ${read.problem}`);
  return { baseUrl: found, ca: read.pem, proxy };
}

const valueAt = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
