import { lookup } from 'node:dns';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { LookupFunction } from 'node:net';
import { OperatorError } from '../core/errors.ts';

/**
 * Checks a URL of the venue. It must be encrypted or on this machine, must not contain a user, password, query or
 * fragment, and must not be an address that maps to another one.
 *
 * @throws OperatorError `config`. The message omits the address if it may contain a password.
 */
export function venueUrl(setting: string, text: string, scheme: 'http' | 'ws'): URL {
  const url = URL.parse(text);
  const problem = addressProblem(text, scheme);
  if (url === null || problem !== undefined)
    throw new OperatorError('config', `${setting}: ${problem ?? 'cannot be read'}`);
  return url;
}

/** Why `text` cannot be a venue address; `undefined` if it can. A webhook may have a query. */
export function addressProblem(
  text: string,
  scheme: 'http' | 'ws',
  { mayHaveQuery = false }: { readonly mayHaveQuery?: boolean } = {},
): string | undefined {
  const url = URL.parse(text);
  if (url === null) return `expected an address that begins with ${scheme}s://`;
  const isPlain = url.protocol === `${scheme}:`;
  if (!isPlain && url.protocol !== `${scheme}s:`)
    return `expected an address that begins with ${scheme}s://, got ${url.protocol}//`;
  if (url.username !== '' || url.password !== '')
    return 'an address must not contain a user or password: use token_file or token instead';
  if ((url.search !== '' && !mayHaveQuery) || url.hash !== '')
    return 'remove the ? or # and everything after it';
  const problem = hostProblem(text, url.hostname);
  if (problem !== undefined) return problem;
  if (isPlain && !isLoopback(text))
    return `${scheme}:// is not encrypted and would show the token to the network: write ${scheme}s://`;
  return undefined;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;

/** Whether an address stays on this machine. `URL` has already normalized unusual forms of 127.0.0.1. */
export function isLoopback(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && LOOPBACK.test(url.hostname);
}

/** The part that two URLs of one server have in common: scheme, name and port; `wss` counts as `https`. */
export function originOf(address: string): string | undefined {
  return URL.parse(address)?.origin.replace(/^ws/u, 'http');
}

/** For unencrypted connections: refuses names that resolve to another machine. */
export const lookupHere: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    const strange = addresses?.find(({ address, family }) => !isHere(address, family));
    if (error !== null) done(error, '', 0);
    else if (strange !== undefined || first === undefined)
      done(new Error(`${host} is not an address of this machine`), '', 0);
    else if (options.all === true) done(null, addresses);
    else done(null, first.address, first.family);
  });
};

/** Created on first use, because a backtest opens no connection. */
interface Networks {
  readonly here: BlockList;
  /** Addresses that no venue can have, including those where cloud machines serve their credentials. */
  readonly nowhere: BlockList;
  /** IPv6 forms that embed an IPv4 address. Here, they could only serve to bypass lists like these. */
  readonly disguised: BlockList;
}
let known: Networks | undefined;
const networks = (): Networks => (known ??= listed());

function listed(): Networks {
  const here = new BlockList();
  here.addSubnet('127.0.0.0', 8);
  here.addAddress('::1', 'ipv6');
  const nowhere = new BlockList();
  nowhere.addSubnet('0.0.0.0', 8); // this network
  nowhere.addSubnet('169.254.0.0', 16); // link-local: metadata of cloud machines
  nowhere.addAddress('100.100.100.200'); // the same, of another cloud
  nowhere.addAddress('192.0.0.192'); // and another
  nowhere.addSubnet('224.0.0.0', 3); // multicast, reserved, broadcast
  nowhere.addAddress('::', 'ipv6');
  nowhere.addSubnet('fe80::', 10, 'ipv6'); // link-local
  nowhere.addAddress('fd00:ec2::254', 'ipv6'); // metadata
  nowhere.addSubnet('ff00::', 8, 'ipv6'); // multicast
  const disguised = new BlockList();
  disguised.addSubnet('::ffff:0:0', 96, 'ipv6');
  disguised.addSubnet('64:ff9b::', 96, 'ipv6');
  disguised.addSubnet('2002::', 16, 'ipv6');
  return { here, nowhere, disguised };
}

export const isHere = (address: string, family: number): boolean =>
  networks().here.check(address, family === 6 ? 'ipv6' : 'ipv4') &&
  !address.toLowerCase().startsWith('::ffff:');

function hostProblem(text: string, hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(?<address>.*)\]$/u, '$<address>');
  const family = isIP(bare);
  if (family === 0) return undefined;
  if (isIPv4(bare) && spelling(text) !== bare) return `write this address in its canonical form: ${bare}`;
  const { nowhere, disguised } = networks();
  const isDisguised = family === 6 && (disguised.check(bare, 'ipv6') || /^::[\da-f]{1,4}:/iu.test(bare));
  if (isDisguised) return 'this IPv6 address maps an IPv4 address: write the IPv4 address';
  return nowhere.check(bare, family === 6 ? 'ipv6' : 'ipv4')
    ? 'a venue cannot have this address: it belongs to this machine or its provider, or is unassigned'
    : undefined;
}

/** The host as written. */
const spelling = (text: string): string | undefined =>
  /^\s*[a-z]+:[/\\]+(?<host>[^/\\?#:]*)/iu.exec(text)?.groups?.['host'];
