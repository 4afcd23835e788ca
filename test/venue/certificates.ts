import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import type { TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

const DAY_MS = 86_400_000;

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
const nameOf = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));

export interface Identity {
  readonly name: string;
  readonly key: string;
  readonly cert: string;
}

export interface IdentityOptions {
  readonly name?: string;
  readonly ip?: readonly number[];
  /** Ends so many days from now. */
  readonly days?: number;
  /** Who signs it; left out: itself. */
  readonly by?: Identity;
  readonly isAuthority?: boolean;
}

let serial = 0;

/** A certificate as RFC 5280 has it: good for one address, from two days ago on. */
export function anIdentity(options: IdentityOptions = {}): Identity {
  const { name = 'a venue', ip = [127, 0, 0, 1], days = 1, by, isAuthority = false } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const address = sequence(oid('551d11'), der(0x04, sequence(der(0x87, Buffer.from(ip)))));
  const yes = der(0x01, Buffer.from([0xff]));
  const authority = sequence(oid('551d13'), yes, der(0x04, sequence(yes)));
  const unsigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([(serial += 1)])),
    algorithm,
    nameOf(by?.name ?? name),
    sequence(time(Date.now() - 2 * DAY_MS), time(Date.now() + days * DAY_MS)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isAuthority ? authority : address)),
  );
  const signer = by === undefined ? privateKey : createPrivateKey(by.key);
  const signature = der(0x03, Buffer.from([0]), sign('sha256', unsigned, signer));
  const whole = sequence(unsigned, algorithm, signature).toString('base64');
  return {
    name,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${whole}\n-----END CERTIFICATE-----\n`,
  };
}

/** Puts encryption before a server on this machine. Gives `127.0.0.1:PORT`. */
export async function encrypted(url: string, options: TlsOptions): Promise<string> {
  const { port } = new URL(url);
  const server = createServer(options, (socket) => {
    const behind = connect(Number(port), '127.0.0.1');
    behind.on('error', () => socket.destroy());
    socket.on('error', () => behind.destroy());
    socket.pipe(behind).pipe(socket);
    onTestFinished(() => {
      socket.destroy();
      behind.destroy();
    });
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
