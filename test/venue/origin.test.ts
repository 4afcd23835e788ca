import type { LookupOptions } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { addressProblem, isHere, lookupHere, originOf } from '../../src/venue/origin.ts';

describe('the address of the venue', () => {
  it.each([
    'https://venue.example',
    'https://venue.example:8443/api',
    'https://10.1.2.3', // encrypted: only a server with the certificate of this address receives the token
    'https://[2606:4700::1111]',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    'http://localhost',
  ])('can be %s', (address) => {
    expect(addressProblem(address, 'http')).toBeUndefined();
  });

  it.each([
    ['the metadata service of a cloud', 'https://169.254.169.254'],
    ['the metadata service of a cloud, unencrypted', 'http://169.254.169.254/latest/meta-data'],
    ['the metadata service of another cloud', 'https://100.100.100.200'],
    ['a metadata service over IPv6', 'https://[fd00:ec2::254]'],
    ['link-local IPv6', 'https://[fe80::1]'],
    ['IPv4 within IPv6', 'http://[::ffff:127.0.0.1]:80'],
    ['IPv4 within IPv6, encrypted', 'https://[::ffff:a9fe:a9fe]'],
    ['IPv4 within IPv6 in the older form', 'https://[::127.0.0.1]'],
    ['IPv4 behind NAT64', 'https://[64:ff9b::7f00:1]'],
    ['IPv4 behind 6to4', 'https://[2002:7f00:1::]'],
    ['a decimal address', 'http://2130706433'],
    ['a hexadecimal address', 'http://0x7f000001'],
    ['an octal address', 'http://0177.0.0.1'],
    ['a short address', 'http://127.1'],
    ['an address in full-width digits', 'http://１２７.0.0.1'],
    ['a metadata service as a decimal address', 'https://2852039166'],
    ['the unspecified IPv4 address', 'http://0.0.0.0'],
    ['the unspecified IPv6 address', 'https://[::]'],
    ['the broadcast address', 'https://255.255.255.255'],
    ['a multicast address', 'https://224.0.0.1'],
    ['a name that only looks local', 'http://localhost.venue.example'],
    ['a local name with a full stop', 'http://localhost.'],
    ['a user', 'https://user@venue.example'],
    ['a password', 'https://:pw@venue.example'],
    ['a user that looks like the host', 'https://127.0.0.1@venue.example'],
    ['a query', 'https://venue.example/?a'],
    ['a fragment', 'https://venue.example/#a'],
    ['another scheme', 'file:///etc/passwd'],
    ['a text without a scheme', 'venue'],
  ])('cannot be %s: %s', (_what, address) => {
    expect(addressProblem(address, 'http')).toMatch(/^[a-z]/u);
  });

  it('has the same origin for HTTP and for WebSocket', () => {
    expect(originOf('wss://Venue.example/ws')).toBe('https://venue.example');
    expect(originOf('https://venue.example:443/v1')).toBe('https://venue.example');
    expect(originOf('ws://localhost:80/ws')).toBe('http://localhost');
    expect(originOf('wss://venue.example:8443')).not.toBe(originOf('https://venue.example'));
  });
});

const find = async (host: string, options: LookupOptions): Promise<unknown> =>
  await new Promise((resolve) => {
    lookupHere(host, options, (error, address) => {
      resolve(error?.message ?? address);
    });
  });

describe('the lookup of a host name without encryption', () => {
  it('accepts an address of this machine', async () => {
    expect(await find('127.0.0.1', {})).toBe('127.0.0.1');
    expect(await find('127.0.0.1', { all: true })).toEqual([{ address: '127.0.0.1', family: 4 }]);
  });

  it.each(['10.0.0.1', '0.0.0.0', '169.254.169.254', '8.8.8.8', '::', '::ffff:127.0.0.1', 'fe80::1'])(
    'refuses the address %s of another machine',
    async (address) => {
      expect(await find(address, {})).toBe(`${address} is not an address of this machine`);
      expect(await find(address, { all: true })).toBe(`${address} is not an address of this machine`);
    },
  );

  it('recognises this machine in IPv4 and IPv6', () => {
    expect([isHere('127.8.9.1', 4), isHere('::1', 6), isHere('::2', 6), isHere('128.0.0.1', 4)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
