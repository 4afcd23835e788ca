import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls, { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { SecureVersion, TlsOptions } from 'node:tls';
import { firstValueFrom } from 'rxjs';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { client, http, systemClock } from './servers.ts';

const DAY_MS = 86_400_000;
const WEAK = 'ALL:@SECLEVEL=0';
const trusted = getCACertificates('default');
afterAll(() => {
  setDefaultCACertificates(trusted);
});

/** One value in the encoding of certificates: its tag, its length, its parts. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const time = (at: number): Buffer => {
  const digits = new Date(at).toISOString().replaceAll(/\D/gu, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
};

interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** A certificate that signs itself, as RFC 5280 has it: good for one address, from two days ago on. */
function anIdentity({ ip = [127, 0, 0, 1], days = 1 } = {}): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('a venue')))));
  const address = der(0x04, sequence(der(0x87, Buffer.from(ip))));
  const now = systemClock.wall();
  const unsigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(time(now - 2 * DAY_MS), time(now + days * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid('551d11'), address))),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', unsigned, privateKey));
  const whole = sequence(unsigned, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${whole}\n-----END CERTIFICATE-----\n`,
  };
}

interface Server {
  readonly url: string;
  /** What came out of the encryption. */
  readonly received: () => string;
}

/** A venue that answers everything with `{}`. */
async function aTlsServer(identity: Identity, options: TlsOptions = {}): Promise<Server> {
  let received = '';
  const server = createServer({ ...identity, ...options }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString();
      socket.write(http('200 OK', '{}'));
    });
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, received: () => received };
}

async function asked(server: Server): Promise<unknown> {
  const exchange = client(server.url).exchange({ method: 'GET', path: '/v1/currency', timeoutMs: 5_000 });
  return await firstValueFrom(exchange).then(
    ({ body }) => body,
    (error: unknown) => error,
  );
}

/** Says why nothing was sent. @throws when something was. */
async function refusal(server: Server): Promise<string> {
  const error = await asked(server);
  if (!(error instanceof VenueError)) throw new Error(`answered: ${String(error)}`);
  expect(error).toMatchObject({ code: 'connect', sent: false, applied: 'no' });
  expect(server.received()).toBe('');
  return (error.cause as Error).message;
}

describe('a venue over TLS', () => {
  it.each<SecureVersion>(['TLSv1.2', 'TLSv1.3'])(
    'is reached with %s, when its certificate is trusted',
    async (version) => {
      const identity = anIdentity();
      setDefaultCACertificates([...trusted, identity.cert]);
      const server = await aTlsServer(identity, { minVersion: version, maxVersion: version });
      expect(await asked(server)).toBe('{}');
      expect(server.received()).toContain('authorization: Bearer');
    },
  );

  it.each<SecureVersion>(['TLSv1', 'TLSv1.1'])(
    'is told nothing when it speaks no more than %s',
    async (version) => {
      // Were it for Node and its library alone, the two would agree on the old version.
      const { DEFAULT_CIPHERS: ciphers, DEFAULT_MIN_VERSION: minVersion } = tls;
      Object.assign(tls, { DEFAULT_CIPHERS: WEAK, DEFAULT_MIN_VERSION: 'TLSv1' });
      onTestFinished(() => {
        Object.assign(tls, { DEFAULT_CIPHERS: ciphers, DEFAULT_MIN_VERSION: minVersion });
      });
      const identity = anIdentity();
      setDefaultCACertificates([...trusted, identity.cert]);
      const old = { minVersion: 'TLSv1', maxVersion: version, ciphers: WEAK } as const;
      expect(await refusal(await aTlsServer(identity, old))).toMatch(
        /protocol.version|unsupported.protocol/iu,
      );
    },
  );

  it.each([
    ['that nobody vouches for', {}, false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['of another address', { ip: [127, 0, 0, 2] }, true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['that has run out', { days: -1 }, true, 'CERT_HAS_EXPIRED'],
  ])('is told nothing when it shows a certificate %s', async (_, over, isTrusted, code) => {
    const identity = anIdentity(over);
    setDefaultCACertificates(isTrusted ? [...trusted, identity.cert] : trusted);
    expect(await refusal(await aTlsServer(identity))).toContain(code);
  });
});
