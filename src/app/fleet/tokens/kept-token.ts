import type { Lease } from '../../../engine/owner/lease-port.ts';
import type { Observer } from '../../../engine/observer.ts';
import { readPostgresUrl } from '../../../journal/postgres/postgres-url.ts';
import type { Config } from '../../config/config.ts';
import type { Secret } from '../../config/secret.ts';
import type { Environment } from '../../config/yaml.ts';
import type { DeskToken } from './desk-token.ts';

export interface DeskWithToken {
  readonly lease: Pick<Lease, 'desk' | 'epoch'> | undefined;
  readonly account: string;
  readonly isAccountChanged: boolean;
  readonly env: Environment;
  /** Keeps a secret out of the variables and messages of this process. */
  readonly hide: (secret: Secret) => void;
  readonly warn: Observer['warn'];
}

/**
 * Makes the desk start with the token in the store of its journal. Returns `undefined` if the desk uses only the token
 * in its config, because its journal is not in a store, its venue is the embedded one, or this machine has no key.
 *
 * @throws OperatorError `config` if the key or token cannot be used, `storage` if the server does not respond
 */
export async function keptToken(
  { mode, venue, journal }: Config,
  { lease, account, isAccountChanged, env, hide, warn }: DeskWithToken,
): Promise<DeskToken | undefined> {
  const { token, baseUrl } = venue;
  if (lease === undefined || mode === 'paper' || token === undefined || baseUrl === undefined)
    return undefined;
  const [{ readTokenKey }, { TokenStore }] = await Promise.all([
    import('./sealed-token.ts'),
    import('./token-store.ts'),
  ]);
  const { desk, epoch } = lease;
  const store = new TokenStore(readPostgresUrl(journal).connectionString);
  const read = readTokenKey(env);
  if (read === undefined) {
    if ((await store.read(desk)) !== undefined)
      warn(
        'the store has a token of this desk, but this machine has no key for it: the desk starts with the token in its config, which may have been replaced. Set TRANCHE_TOKEN_KEY_FILE as on the other machines',
      );
    return undefined;
  }
  if (read.text !== undefined) hide(read.text);
  const { DeskToken } = await import('./desk-token.ts');
  const origin = new URL(baseUrl).origin;
  const kept = await DeskToken.open({
    store,
    key: read.key,
    desk,
    epoch,
    origin,
    token,
    account,
    isAccountChanged,
    warn,
  });
  hide(token);
  return kept;
}
