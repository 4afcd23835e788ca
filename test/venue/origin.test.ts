import type { LookupOptions } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { addressProblem, isHere, lookupHere, originOf } from '../../src/venue/origin.ts';

describe('an address of the venue', () => {
  it.each([
    'https://venue.example',
    'https://venue.example:8443/api',
    'https://10.1.2.3', // encrypted, so that only who has the certificate of this address gets the token
    'https://[2606:4700::1111]',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    'http://localhost',
  ])('may be %s', (address) => {
    expect(addressProblem(address, 'http')).toBeUndefined();
  });

  it.each([
    ['metadata of a cloud', 'https://169.254.169.254'],
    ['metadata of a cloud, in the clear', 'http://169.254.169.254/latest/meta-data'],
    ['metadata of another cloud', 'https://100.100.100.200'],
    ['metadata over IPv6', 'https://[fd00:ec2::254]'],
    ['link-local IPv6', 'https://[fe80::1]'],
    ['IPv4 within IPv6', 'http://[::ffff:127.0.0.1]:80'],
    ['IPv4 within IPv6, encrypted', 'https://[::ffff:a9fe:a9fe]'],
    ['the older form of that', 'https://[::127.0.0.1]'],
    ['IPv4 behind NAT64', 'https://[64:ff9b::7f00:1]'],
    ['IPv4 behind 6to4', 'https://[2002:7f00:1::]'],
    ['a decimal address', 'http://2130706433'],
    ['a hexadecimal address', 'http://0x7f000001'],
    ['an octal address', 'http://0177.0.0.1'],
    ['a short address', 'http://127.1'],
    ['an address in wide digits', 'http://１２７.0.0.1'],
    ['a decimal address of metadata', 'https://2852039166'],
    ['every address of this machine', 'http://0.0.0.0'],
    ['the same over IPv6', 'https://[::]'],
    ['everybody', 'https://255.255.255.255'],
    ['a group', 'https://224.0.0.1'],
    ['a name that only looks local', 'http://localhost.venue.example'],
    ['a local name with a full stop', 'http://localhost.'],
    ['a user', 'https://user@venue.example'],
    ['a password', 'https://:pw@venue.example'],
    ['a user that looks like the host', 'https://127.0.0.1@venue.example'],
    ['a query', 'https://venue.example/?a'],
    ['a fragment', 'https://venue.example/#a'],
    ['another scheme', 'file:///etc/passwd'],
    ['nonsense', 'venue'],
  ])('is not %s: %s', (_what, address) => {
    expect(addressProblem(address, 'http')).toMatch(/^[a-z]/u);
  });

  it('is the same whether it is spoken to by HTTP or by WebSocket', () => {
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

describe('a name in the clear', () => {
  it('is connected to when it leads to this machine', async () => {
    expect(await find('127.0.0.1', {})).toBe('127.0.0.1');
    expect(await find('127.0.0.1', { all: true })).toEqual([{ address: '127.0.0.1', family: 4 }]);
  });

  it.each(['10.0.0.1', '0.0.0.0', '169.254.169.254', '8.8.8.8', '::', '::ffff:127.0.0.1', 'fe80::1'])(
    'is not connected to when it leads to %s',
    async (address) => {
      expect(await find(address, {})).toBe(`${address} is not an address of this machine`);
      expect(await find(address, { all: true })).toBe(`${address} is not an address of this machine`);
    },
  );

  it('knows this machine by either family', () => {
    expect([isHere('127.8.9.1', 4), isHere('::1', 6), isHere('::2', 6), isHere('128.0.0.1', 4)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
