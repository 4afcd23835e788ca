import { OperatorError } from '../core/errors.ts';

/** Where to listen. Port 0 takes any free port. */
export interface Listen {
  readonly host: string;
  readonly port: number;
}

/** Splits `host:port`. @throws OperatorError `config`. */
export function parseListen(text: string): Listen {
  const groups = /^(?:\[(?<six>[0-9a-f:.]+)\]|(?<name>[a-z0-9.-]+)):(?<port>\d{1,5})$/iu.exec(text)?.groups;
  const host = groups?.['six'] ?? groups?.['name'];
  const port = Number(groups?.['port']);
  if (host === undefined || port > 65_535) {
    throw new OperatorError(
      'config',
      `operate.listen: expected an address and a port such as "127.0.0.1:8321", got ${JSON.stringify(text)}`,
    );
  }
  return { host, port };
}

/** Whether it is reachable only from this machine. */
export const isLoopbackName = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host);

/** The error message for an address that needs explicit configuration. */
export const beyondLoopback = (listen: string): string =>
  [
    `operate.listen "${listen}" would be reachable from the network without encryption.`,
    'Write operate.tls, or listen on 127.0.0.1 and let a proxy with TLS forward to it; name this host in operate.hosts.',
    'operate.allow_network: true listens without encryption anyway. From other machines, every route except /healthz requires a token.',
  ].join('\n');

/**
 * URLs of the pages, for the browser on this machine and for other people's browsers. Passkeys belong to a host name,
 * so loopback is called `localhost`. If `hosts` contains a name, other people use that name, over TLS.
 */
export function pageUrls(
  url: string,
  { hosts = [] }: { readonly hosts?: readonly string[] | undefined },
): { readonly pageUrl: string; readonly invitationUrl: string } {
  const { protocol, hostname, port } = new URL(url);
  const [name] = hosts;
  const host = hostname.replaceAll(/[[\]]/gu, '');
  const isTls = protocol === 'https:';
  const local = `${protocol}//localhost${port === '' ? '' : `:${port}`}`;
  // Without encryption, a browser can sign in only on loopback.
  const isOfThisMachine = isLoopbackName(host) || EVERY_ADDRESS.has(host);
  const named = name === undefined ? (isOfThisMachine ? local : url) : `https://${name}`;
  return { pageUrl: isTls || !isOfThisMachine ? named : local, invitationUrl: named };
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
