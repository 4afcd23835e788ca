import { Socket } from 'node:net';
import { Client } from 'undici';
import type { buildConnector } from 'undici';
import { OperatorError } from '../core/errors.ts';
import type { VenueToken } from './sanitize.ts';

/** A proxy that forwards connections (HTTP CONNECT). */
export interface Proxy {
  /** Scheme, host and port. */
  readonly url: string;
  /** `user:password`. */
  readonly credentials?: VenueToken | undefined;
}

/**
 * Connections that reach the venue through `proxy`, as undici's ProxyAgent opens them, but for any pool, client or socket:
 * the proxy opens a tunnel, and `connect` encrypts within it, so the proxy sees the venue's name and port and nothing else.
 *
 * @throws OperatorError `config` if the venue's URL is not encrypted.
 */
export function throughProxy(
  connect: buildConnector.connector,
  { proxy, venue, timeoutMs }: { readonly proxy: Proxy; readonly venue: URL; readonly timeoutMs: number },
): buildConnector.connector {
  if (venue.protocol !== 'https:' && venue.protocol !== 'wss:')
    throw new OperatorError('config', 'venue.proxy_url: a proxy would read the token: write https:// and wss:// for the venue');
  const { credentials } = proxy;
  const authorization =
    credentials && { 'proxy-authorization': `Basic ${Buffer.from(credentials.reveal()).toString('base64')}` };
  return (target, done) => {
    const name = target.hostname.includes(':') ? `[${target.hostname.replaceAll(/[[\]]/gu, '')}]` : target.hostname;
    const path = `${name}:${target.port === '' ? '443' : target.port}`;
    const client = new Client(proxy.url, { connect: { timeout: timeoutMs }, headersTimeout: timeoutMs });
    client.connect({ path, headers: { host: path, ...authorization } }, (error, tunnel) => {
      // The tunnel is no longer the client's.
      void client.close();
      if (error !== null) done(error, null);
      else if (tunnel.statusCode === 200 && tunnel.socket instanceof Socket)
        connect({ ...target, httpSocket: tunnel.socket }, done);
      else {
        tunnel.socket.destroy();
        done(new Error(`the proxy refused with status ${tunnel.statusCode}`), null);
      }
    });
  };
} // prettier-ignore
