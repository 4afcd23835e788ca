import { HOUR_MS } from '../../core/time.ts';
import { isSecretLike } from './secrets.ts';

/** Each session and its cookie end after this time in any case. */
export const SESSION_MS = 12 * HOUR_MS;

/** Maximum number of cookies read from one request, which may include those of other desks on this machine. */
const LOOKED_MAX = 16;
const HEADER_MAX = 8_192;

/** Secrets of sessions in a `Cookie` header, and whether only TLS could have set them. */
export function cookiesIn(
  header: string,
): readonly { readonly secret: string; readonly isSecure: boolean }[] {
  if (header.length > HEADER_MAX) return [];
  return header
    .split(';')
    .flatMap((each) => {
      const [, name = '', secret] =
        /^\s*(?<name>(?:__Host-)?tranche(?:-\d{1,5})?)=(?<secret>[\w-]{43})\s*$/u.exec(each) ?? [];
      return isSecretLike(secret) ? [{ secret, isSecure: name.startsWith('__Host-') }] : [];
    })
    .slice(0, LOOKED_MAX);
}

/** Where a cookie is valid. */
export interface CookiePlace {
  readonly isSecure: boolean;
  /** Port of the page. Browsers do not distinguish cookies by port, and several desks may run on one machine. */
  readonly port: string;
}

const nameOf = ({ isSecure, port }: CookiePlace): string =>
  `${isSecure ? '__Host-' : ''}tranche${port === '' ? '' : `-${port}`}`;

const attributes = ({ isSecure }: CookiePlace): string =>
  `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

/** The `Set-Cookie` header that starts a session in a browser. */
export const setCookie = (place: CookiePlace, secret: string): string =>
  `${nameOf(place)}=${secret}; ${attributes(place)}; Max-Age=${SESSION_MS / 1_000}`;

/** The `Set-Cookie` header that ends a session. */
export const clearCookie = (place: CookiePlace): string =>
  `${nameOf(place)}=; ${attributes(place)}; Max-Age=0`;
