import { X509Certificate } from 'node:crypto';
import { readRegularFile } from '../../files/regular-file.ts';
import { whyUnreadable } from './files.ts';

const BYTES_MAX = 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/gu;

/** Returns the certificates of a PEM file without surrounding text, or the problem with them. */
export function readCertificates(path: string): { readonly pem: string } | { readonly problem: string } {
  try {
    const text = readRegularFile(path, { maxBytes: BYTES_MAX }).toString('latin1');
    const found = text.match(CERTIFICATE) ?? [];
    if (found.length === 0) return { problem: `${path} contains no certificate: expected PEM, -----BEGIN CERTIFICATE-----` }; // prettier-ignore
    const bad = found.findIndex((each) => !isCertificate(each));
    if (bad !== -1) return { problem: `certificate ${bad + 1} of ${path} cannot be read` };
    return { pem: found.join('\n') };
  } catch (cause) {
    return { problem: `${path} cannot be read: ${whyUnreadable(cause)}` };
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
