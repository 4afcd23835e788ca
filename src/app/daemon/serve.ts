import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../core/errors.ts';
import type { Desk } from '../../engine/desk.ts';
import type { Command } from '../../engine/ports.ts';
import type { Bearer } from '../../operate/access.ts';
import type { EventStream } from '../../operate/events.ts';
import type { Metrics } from '../../operate/metrics.ts';
import { pageUrls } from '../../operate/listen.ts';
import type { SignIn } from '../../operate/sign-in/sign-in.ts';
import type { TlsIdentity } from '../../operate/server.ts';
import type { Config, OperateConfig } from '../config/config.ts';
import { writeControlFile } from './control-file.ts';
import { readCertificates } from '../config/authority.ts';
import { readTokenFile } from '../config/credential.ts';
import { deskApi } from '../desk-api/desk-api.ts';
import { readApi } from '../desk-api/read-api.ts';
import type { ReadApiParts } from '../desk-api/read-api.ts';
import { peopleDesk } from '../desk-api/people-desk.ts';
import type { AlertHistory } from './open-alerts.ts';
import { notReady } from './readiness.ts';
import { Secret } from '../config/secret.ts';
import { version } from '../version.ts';

export interface Served {
  readonly metrics: Metrics;
  readonly desk: Desk;
  readonly alerts: AlertHistory;
  readonly waits: { readonly isReady: boolean };
  readonly closers: (() => unknown)[];
  readonly events: EventStream;
  readonly command: (command: Command) => void;
  readonly past: Pick<ReadApiParts, 'journal' | 'prices' | 'pages' | 'reports'>;
}

/** Addresses of a running desk. */
export interface ServedAt {
  /** URL of metrics, health and the API. */
  readonly url: string;
  /** URL at which other machines reach it, if they do. */
  readonly address: string;
  /** Returns a new one-time link that signs in the browser on this machine. */
  readonly newLink: () => string | undefined;
  /** Reads the files of `operate.tokens` again. If one cannot be used, every token stays as it is. Returns why. */
  readonly rereadTokens: () => string | undefined;
}

/** Serves metrics, health, the API and the dashboard unless disabled, and publishes the URL to commands on this machine. */
export async function serve(config: Config, served: Served): Promise<ServedAt | undefined> {
  // This token is valid only for this process and is never displayed. It is in a file that only its owner can read.
  const local = new Secret(randomBytes(32).toString('base64url'));
  const { operate } = config;
  const people = bearersOf(operate?.tokens ?? [], config.venue.token);
  const bearers: readonly Bearer[] = [
    { name: MACHINE, role: 'admin', kind: 'machine', token: local },
    ...people,
  ];
  const signIn = await signInFor(served);
  const url = operate && (await listen(config, operate, { bearers, signIn }, served));
  // Commands on this machine have no certificate, and their connection does not leave the machine.
  const localUrl =
    operate?.tls === undefined
      ? url
      : await listen(config, { ...operate, ...LOOPBACK }, { bearers, signIn }, served);
  const control = { url: localUrl, token: local.reveal(), pid: process.pid, desk: config.desk };
  served.closers.push(writeControlFile(config.journal, control));
  if (operate === undefined || url === undefined) return undefined;
  const pages = pageUrls(url, operate);
  Object.assign(signIn, pages);
  const { newLink } = await import('../../operate/sign-in/sign-in.ts');
  return {
    url,
    address: pages.invitationUrl,
    newLink: () => newLink(signIn),
    rereadTokens: () => rereadTokens(people, operate.tokens, config.venue.token),
  };
}

/** Creates the sign-in that all URLs of this process share, so that a sign-in at one is valid at the others. */
async function signInFor({ desk, command }: Served): Promise<SignIn> {
  const { signInOf } = await import('../../operate/sign-in/sign-in.ts');
  const { clock } = desk.ports;
  return signInOf({
    people: peopleDesk(desk, command),
    now: () => clock.monotonic(),
    wall: () => clock.wall(),
    newSecret: () => randomBytes(32).toString('base64url'),
  });
}

/** Folder that `npm run build:dashboard` builds; it has the same place in the repository and in the package. */
export const PAGES = fileURLToPath(new URL('../../../dist/dashboard', import.meta.url));

export const LOOPBACK = { listen: '127.0.0.1:0', tls: undefined, proxies: [] };

/** Reads the key and certificates of `operate.tls`. @throws OperatorError `config` if a file cannot be read. */
export function identityOf(files: OperateConfig['tls']): TlsIdentity | undefined {
  if (files === undefined) return undefined;
  const key = readTokenFile(files.key);
  if ('problem' in key) throw new OperatorError('config', `operate.tls.key_file: ${key.problem}`);
  const pem = (setting: string, file: string): string => {
    const read = readCertificates(file);
    if ('problem' in read) throw new OperatorError('config', `operate.tls.${setting}: ${read.problem}`);
    return read.pem;
  };
  const { certificate, clientCa } = files;
  return {
    key: key.text,
    cert: pem('certificate_file', certificate),
    clientCa: clientCa === undefined ? undefined : pem('client_ca_file', clientCa),
  };
}

interface Callers {
  readonly bearers: readonly Bearer[];
  readonly signIn: SignIn;
}

async function listen(
  config: Config,
  operate: OperateConfig,
  { bearers, signIn }: Callers,
  served: Served,
): Promise<string> {
  const { metrics, desk, alerts, waits, closers, events, command, past } = served;
  const own = deskApi(desk, command, alerts);
  const { startOperate } = await import('../../operate/server.ts');
  const reads = readApi({
    ...past,
    desk,
    config,
    alerts,
    status: () => own.status(),
    isProven: () => waits.isReady,
  });
  const server = await startOperate({
    ...operate,
    tls: identityOf(operate.tls),
    version,
    metrics,
    pages: PAGES,
    api: {
      desk: own,
      reads,
      events,
      bearers,
      signIn,
      now: () => desk.ports.clock.monotonic(),
    },
    ready: () => (waits.isReady ? notReady(desk) : ['recovering: the account has not been read yet']),
  });
  closers.push(async () => {
    await server.close();
  });
  return server.url;
}

/** Name of the token that is stored beside the journal. */
export const MACHINE = 'local';

/** Shortest token, in characters: shorter tokens could be guessed. */
const TOKEN_MIN = 16;

/**
 * Reads the tokens of the API.
 *
 * @throws OperatorError `config` if a token cannot be read or is the venue's token, or if two entries share a name or a
 * token
 */
export function bearersOf(tokens: OperateConfig['tokens'], venueToken?: Secret): readonly OwnBearer[] {
  const bearers = tokens.map(bearerOf);
  const seen = new Set([MACHINE]);
  for (const { name } of bearers) {
    if (seen.has(name.toLowerCase()))
      throw new OperatorError(
        'config',
        `operate.tokens: the name ${name} is already used by another token, or by this machine's own (${MACHINE}): choose another`,
      );
    seen.add(name.toLowerCase());
  }
  const names = new Map(venueToken === undefined ? [] : [[venueToken.reveal(), 'venue.token']]);
  for (const { name, token } of bearers) {
    const other = names.get(token.reveal());
    if (other === 'venue.token')
      throw new OperatorError(
        'config',
        `operate.tokens: ${name} has the venue's token, which nobody else may know: give ${name} another`,
      );
    if (other !== undefined)
      throw new OperatorError(
        'config',
        `operate.tokens: ${other} and ${name} have the same token, so the API cannot tell them apart: give each its own`,
      );
    names.set(token.reveal(), name);
  }
  return bearers;
}

type OwnBearer = Bearer & { readonly token: Secret };

/** Gives these tokens the present text of their files. Returns why they keep what they have. */
export function rereadTokens(
  bearers: readonly OwnBearer[],
  ...from: Parameters<typeof bearersOf>
): string | undefined {
  try {
    for (const [n, { token }] of bearersOf(...from).entries())
      if (bearers[n]?.token.reveal() !== token.reveal()) bearers[n]?.token.replace(token);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function bearerOf({ name, role, kind, file }: OperateConfig['tokens'][number]): OwnBearer {
  const read = readTokenFile(file);
  if ('problem' in read) throw new OperatorError('config', `operate.tokens, ${name}: ${read.problem}`);
  if (!/^[\x21-\x7e]{16,4096}$/u.test(read.text))
    throw new OperatorError(
      'config',
      `operate.tokens, ${name}: expected one line of ${TOKEN_MIN} to 4096 letters, digits and signs`,
    );
  return { name, role, kind, token: new Secret(read.text) };
}
