import { TLSSocket } from 'node:tls';
import type { PeerCertificate } from 'node:tls';
import { buildConnector } from 'undici';

/** Faults of a certificate, by Node's error code. */
const faults: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'it is signed by an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'it is not signed by a trusted authority',
  UNABLE_TO_GET_ISSUER_CERT: 'it is not signed by a trusted authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'it is not signed by a trusted authority',
  CERT_HAS_EXPIRED: 'it, or one that it depends on, has expired',
  CERT_NOT_YET_VALID: 'it, or one that it depends on, is not valid yet',
  CERT_REVOKED: 'it is revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
  HOSTNAME_MISMATCH: 'it is for another name',
};
/** Other error codes of OpenSSL for certificates. */
const FAULT = /^(?:CERT_|UNABLE_TO_|INVALID_(?:CA|PURPOSE)|PATH_LENGTH|ERROR_IN_CERT|EE_KEY|CA_KEY|CA_MD)/u;

/**
 * The server responded, but did not prove that it is the venue; nothing was sent. The message describes the certificate
 * and the problem.
 */
export class CertificateRefused extends Error {
  override readonly name = 'CertificateRefused';
}

/**
 * Turns a certificate error of a connection to `host` into a refusal of the certificate `seen` there; returns other
 * errors unchanged.
 */
export function refusalOf(error: Error, host: string, seen: PeerCertificate | undefined): Error {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const fault = faults[code] ?? (FAULT.test(code) ? `OpenSSL says ${code}` : undefined);
  return fault === undefined
    ? error
    : new CertificateRefused(`the certificate of ${host} is refused: ${fault}${factsOf(seen)}`);
}

function factsOf(seen: PeerCertificate | undefined): string {
  if (seen?.valid_to === undefined) return '';
  const { subject, issuer, subjectaltname: names, valid_from: from, valid_to: to } = seen;
  return ` (valid from ${from} until ${to}, for ${names ?? nameIn(subject)}, signed by ${nameIn(issuer)})`;
}

/** Certificates may lack fields that their type declares. */
const nameIn = (holder: Partial<PeerCertificate['subject']> | undefined): string =>
  [holder?.CN ?? holder?.O ?? 'nobody'].flat().join(', ');

/** Captures the certificate of a connection before verification, because a refused connection no longer provides it. */
export function certificateOf(socket: unknown): () => PeerCertificate | undefined {
  let seen: PeerCertificate | undefined;
  if (socket instanceof TLSSocket)
    socket.prependOnceListener('secure', () => {
      seen = socket.getPeerCertificate();
    });
  return () => seen;
}

export type ConnectOptions = NonNullable<Parameters<typeof buildConnector>[0]>;

/**
 * Connections of undici that fail with `CertificateRefused` if the certificate is the cause. `onRefused` is called once
 * per reason until a connection succeeds.
 */
export function judgedConnector(
  options: ConnectOptions,
  onRefused: (why: string) => void = () => undefined,
): buildConnector.connector {
  const connect = buildConnector(options);
  let told: string | undefined;
  return (target, done) => {
    const socket: unknown = connect(target, (error, opened) => {
      if (error === null) {
        told = undefined;
        done(null, opened);
        return;
      }
      const refusal = refusalOf(error, target.hostname, seen());
      if (refusal instanceof CertificateRefused && refusal.message !== told) {
        told = refusal.message;
        onRefused(refusal.message);
      }
      done(refusal, null);
    });
    const seen = certificateOf(socket);
  };
}
