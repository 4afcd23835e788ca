import type { KeyObject } from 'node:crypto';
import { OperatorError } from '../../../core/errors.ts';
import type { Observer } from '../../../engine/observer.ts';
import type { TokenKeeper } from '../../daemon/token-rotation.ts';
import { Secret } from '../../config/secret.ts';
import { formerOf, openToken, sealToken, tokenDigest, undecipherable } from './sealed-token.ts';
import type { KeptToken } from './sealed-token.ts';
import type { StoredToken, TokenStore } from './token-store.ts';

export interface DeskTokenOptions {
  readonly store: Pick<TokenStore, 'read' | 'write'>;
  readonly key: KeyObject;
  readonly desk: string;
  /** Epoch of the owner of the desk. */
  readonly epoch: number;
  /** Origin of the venue. */
  readonly origin: string;
  /** Token that the desk trades with: at first the config's token, until `open` replaces its text with the text of the stored token. */
  readonly token: Secret;
  /** Account id of the journal if the token of the config is the first token of the desk. */
  readonly account: string;
  /** Whether a person says that the token of the config belongs to the same account: the token in the store is then ignored. */
  readonly isAccountChanged: boolean;
  readonly warn: Observer['warn'];
}

const UNKNOWN =
  'has never been used by the desk, and may belong to another account. If it is the new token of this account, store it with "tranche fleet token"';

/**
 * The token of a desk in the store of its journal, so that the next owner starts with the token of this owner. The store has a replaced
 * token before the first request carries it.
 */
export class DeskToken implements TokenKeeper {
  readonly #options: DeskTokenOptions;
  /** The stored token, as this process last read or wrote it. */
  #kept: KeptToken | undefined;
  #version = 0;
  /** Digest of a token that the config contained at the start and the desk has never used. */
  #unknown: string | undefined;

  private constructor(options: DeskTokenOptions) {
    this.#options = options;
  }

  /**
   * Decides which token the desk starts with: that of the store, if there is one. A token of the config that the desk has never used may
   * belong to an account other than that of the journal: the desk refuses it until a person puts it into the store.
   *
   * @throws OperatorError `config` if the token in the store cannot be decrypted, `storage` if the server does not answer
   */
  static async open(options: DeskTokenOptions): Promise<DeskToken> {
    const { token, origin, isAccountChanged, warn } = options;
    const desk = new DeskToken(options);
    const stored = await options.store.read(options.desk);
    if (stored === undefined) return desk;
    desk.#version = stored.version;
    if (isAccountChanged) return desk;
    const kept = desk.#opened(stored);
    if (kept.origin !== origin) {
      warn(`the store has a token of this desk for ${kept.origin}: it is not sent to ${origin}`);
      return desk;
    }
    desk.#kept = kept;
    if (kept.token.reveal() === token.reveal()) return desk;
    if (!desk.#isFormer(token)) {
      desk.#unknown = tokenDigest(token);
      warn(`the desk starts with the token in the store: that of its config ${UNKNOWN}`);
    }
    token.replace(kept.token);
    return desk;
  }

  /** Account id of the journal, which follows from the first token. */
  get account(): string {
    return this.#kept?.account ?? this.#options.account;
  }

  refusalOf(token: Secret): string | undefined {
    if (this.#isFormer(token)) return 'was replaced and must not be used again';
    return tokenDigest(token) === this.#unknown ? UNKNOWN : undefined;
  }

  async keep(token: Secret): Promise<void> {
    const { store, desk, epoch, origin } = this.#options;
    const kept = this.#kept;
    if (kept?.token.reveal() === token.reveal()) return;
    const former = kept === undefined ? [] : formerOf(kept, token);
    const next: KeptToken = { account: this.account, origin, token: new Secret(token.reveal()), former };
    const place = { desk, version: this.#version + 1 };
    const sealed = sealToken(next, place, this.#options.key);
    if (!(await store.write({ ...place, sealed, epoch, why: 'replaced' }))) {
      const stored = await store.read(desk);
      // The store may already have this token, from an earlier attempt whose answer was lost.
      if (stored?.version !== place.version || this.#opened(stored).token.reveal() !== token.reveal())
        throw new OperatorError('again', 'another owner has the desk, or a person replaced its token');
    }
    this.#kept = next;
    this.#version = place.version;
  }

  async newer(): Promise<Secret | undefined> {
    const stored = await this.#options.store.read(this.#options.desk);
    if (stored === undefined || stored.version === this.#version) return undefined;
    const kept = this.#opened(stored);
    this.#kept = kept;
    this.#version = stored.version;
    return kept.token;
  }

  #isFormer(token: Secret): boolean {
    return this.#kept?.former.includes(tokenDigest(token)) === true;
  }

  #opened(stored: StoredToken): KeptToken {
    const kept = openToken(stored.sealed, stored, this.#options.key);
    if (kept === undefined) throw undecipherable(stored);
    return kept;
  }
}
