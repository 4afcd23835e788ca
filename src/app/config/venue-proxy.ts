import { resolve } from 'node:path';
import { readTokenFile } from './credential.ts';
import { Secret } from './secret.ts';

/** The proxy through which a desk reaches its venue. */
export interface VenueProxy {
  readonly url: string;
  /** `user:password`. */
  readonly credentials: Secret | undefined;
}

interface ProxySettings {
  readonly base_url?: string | undefined;
  readonly ws_url?: string | undefined;
  readonly proxy_url?: string | undefined;
  readonly proxy_credentials_file?: string | undefined;
}

/** Returns the proxy, or the setting that is wrong and why; `undefined` without a proxy. Files are relative to `folder`. */
export function readProxy(
  { proxy_url: url, proxy_credentials_file: file, ...venue }: ProxySettings,
  folder: string,
): VenueProxy | { readonly key: keyof ProxySettings; readonly problem: string } | undefined {
  if (url === undefined)
    return file === undefined ? undefined : { key: 'proxy_credentials_file', problem: 'write proxy_url, or remove this' };
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/u.test(parsed.protocol))
    return { key: 'proxy_url', problem: 'expected an address such as http://proxy.example:3128' };
  if (parsed.username !== '' || parsed.password !== '')
    return { key: 'proxy_url', problem: 'an address must not contain a user or password: use proxy_credentials_file' };
  if (parsed.href !== `${parsed.origin}/`)
    return { key: 'proxy_url', problem: 'remove everything after the host and port' };
  for (const key of ['base_url', 'ws_url'] as const)
    if (venue[key] !== undefined && !/^(?:https|wss):/iu.test(venue[key]))
      return { key, problem: 'a proxy would read the token: write https:// or wss://, or remove proxy_url' };
  if (file === undefined) return { url: parsed.origin, credentials: undefined };
  const read = readTokenFile(resolve(folder, file));
  if ('problem' in read) return { key: 'proxy_credentials_file', problem: read.problem };
  return /^[\x21-\x39\x3b-\x7e]+:[\x20-\x7e]+$/u.test(read.text)
    ? { url: parsed.origin, credentials: new Secret(read.text) }
    : { key: 'proxy_credentials_file', problem: 'expected one line: user:password' };
} // prettier-ignore
