import { OperatorError } from '../core/errors.ts';

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/u;

/**
 * Checks an address of the venue: encrypted, or on this machine; no user, password, query or fragment.
 *
 * @throws OperatorError `config`, without what it found where that may be a password.
 */
export function venueUrl(setting: string, text: string, scheme: 'http' | 'ws'): URL {
  const url = URL.parse(text);
  if (url === null)
    throw new OperatorError('config', `${setting}: expected an address such as "${scheme}s://host"`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new OperatorError(
      'config',
      `${setting}: leave out user, password, query and fragment; the token has its own setting`,
    );
  }
  const isPlain = url.protocol === `${scheme}:`;
  if (!isPlain && url.protocol !== `${scheme}s:`) {
    throw new OperatorError('config', `${setting}: expected ${scheme}s://, got ${url.protocol}//`);
  }
  if (isPlain && !LOOPBACK.test(url.hostname)) {
    throw new OperatorError(
      'config',
      `${setting}: ${scheme}:// would show the token to the network; write ${scheme}s://`,
    );
  }
  return url;
}
