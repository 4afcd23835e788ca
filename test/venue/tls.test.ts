import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls, { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { SecureVersion, TlsOptions } from 'node:tls';
import { firstValueFrom } from 'rxjs';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { aVenue } from '../simulator/client.ts';
import { anIdentity, encrypted } from './certificates.ts';
import type { Identity } from './certificates.ts';
import { follow } from './feed-server.ts';
import { client, http } from './servers.ts';

const WEAK = 'ALL:@SECLEVEL=0';
const trusted = getCACertificates('default');
const authority = anIdentity({ name: 'an authority', isAuthority: true });
afterAll(() => {
  setDefaultCACertificates(trusted);
});

interface Server {
  readonly url: string;
  /** The decrypted bytes that were received. */
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

/** Returns the reason why nothing was sent. @throws if something was sent. */
async function refusal(server: Server, kind = 'connect'): Promise<string> {
  const error = await asked(server);
  if (!(error instanceof VenueError)) throw new Error(`answered: ${String(error)}`);
  expect(error).toMatchObject({ code: kind, sent: false, applied: 'no' });
  expect(server.received()).toBe('');
  return (error.cause as Error).message;
}

describe('a venue over TLS', () => {
  it.each<SecureVersion>(['TLSv1.2', 'TLSv1.3'])(
    'is reached with %s if its certificate is trusted',
    async (version) => {
      const identity = anIdentity();
      setDefaultCACertificates([...trusted, identity.cert]);
      const server = await aTlsServer(identity, { minVersion: version, maxVersion: version });
      expect(await asked(server)).toBe('{}');
      expect(server.received()).toContain('authorization: Bearer');
    },
  );

  it.each<SecureVersion>(['TLSv1', 'TLSv1.1'])(
    'receives nothing if it supports no version above %s',
    async (version) => {
      // The defaults of Node are lowered here, so that only the client itself refuses the old version.
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
    ['is self-signed', {}, false, 'it is self-signed'],
    ['is for another address', { ip: [127, 0, 0, 2] }, true, 'it is for another name'],
    ['has expired', { days: -1 }, true, 'it, or one that it depends on, has expired'],
    [
      'is signed by an unknown authority',
      { by: authority },
      false,
      'it is not signed by a trusted authority',
    ],
  ])(
    'receives nothing if its certificate %s, and the error states the reason and the dates',
    async (_, over, isTrusted, why) => {
      const identity = anIdentity(over);
      setDefaultCACertificates(isTrusted ? [...trusted, identity.cert] : trusted);
      const said = await refusal(await aTlsServer(identity), 'certificate');
      expect(said).toContain(`the certificate of 127.0.0.1 is refused: ${why} (valid from `);
      const until = new Date(Date.parse(/until (?<until>[^,]*),/u.exec(said)?.groups?.['until'] ?? ''));
      const days = (until.getTime() - Date.now()) / 86_400_000;
      expect(Math.round(days)).toBe('days' in over ? over.days : 1);
    },
  );

  it('reports a refused certificate once, and again after a connection that succeeded', async () => {
    const [bad, good] = [anIdentity({ days: -1, by: authority }), anIdentity({ by: authority })];
    const server = createServer(bad, (socket) => socket.end(http('200 OK', '{}', 'connection: close')));
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
    });
    const refused: string[] = [];
    const venue = client(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      ca: authority.cert,
      onCertificateRefused: (why) => refused.push(why),
    });
    const ask = async (): Promise<unknown> =>
      await firstValueFrom(venue.exchange({ method: 'GET', path: '/v1/currency', timeoutMs: 5_000 })).catch(
        (error: unknown) => error,
      );
    await ask();
    await ask();
    expect(refused).toEqual([expect.stringContaining('has expired (valid from ')]);
    server.setSecureContext(good);
    expect(await ask()).toMatchObject({ status: 200 });
    server.setSecureContext(bad);
    await ask();
    expect(refused).toHaveLength(2);
  });
});

describe('a venue with a private authority', () => {
  it('is reached over HTTP and WebSocket with the certificates of venue.ca_file, and with no others', async () => {
    setDefaultCACertificates(trusted);
    await using simulated = await aVenue({ tickerIntervalMs: 50 });
    const at = await encrypted(simulated.baseUrl, anIdentity({ by: authority }));
    const token = { reveal: () => simulated.tokens[0] ?? '' };
    const ask = async (ca: string | undefined): Promise<unknown> =>
      await firstValueFrom(
        client(`https://${at}`, { token, ca }).exchange({ method: 'GET', path: '/v1/currency', timeoutMs: 5_000 }), // prettier-ignore
      ).catch((error: unknown) => error);
    expect(await ask(undefined)).toMatchObject({ code: 'certificate', sent: false });
    expect(await ask(anIdentity({ name: 'another', isAuthority: true }).cert)).toMatchObject({ code: 'certificate' }); // prettier-ignore
    expect(await ask(authority.cert)).toMatchObject({ status: 200 });

    const feeds = ['ticker.sfox.btcusd'];
    const trusting = follow(`wss://${at}/ws`, { token, feeds, ca: authority.cert });
    await vi.waitUntil(() => trusting.events.some(({ event }) => event === 'open'), 10_000);
    const strange = follow(`wss://${at}/ws`, { token, feeds });
    await vi.waitUntil(() => strange.events.length > 0, 10_000);
    expect(strange.events[0]).toMatchObject({
      event: 'certificate_refused',
      why: expect.stringMatching(/it is not signed by a trusted authority \(valid from .* until /u) as string,
    });
  });
});
