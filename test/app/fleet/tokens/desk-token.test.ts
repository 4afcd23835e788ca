import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/app/config/secret.ts';
import { DeskToken } from '../../../../src/app/fleet/tokens/desk-token.ts';
import type { StoredToken, TokenChange } from '../../../../src/app/fleet/tokens/token-store.ts';
import { KEY_TEXT, OTHER_KEY_TEXT, keyFrom } from './keys.ts';

/** Rows of the table. `epoch` simulates a takeover; `fails` a server that fails before or after the change. */
class Rows {
  readonly rows = new Map<string, StoredToken>();
  epoch = 1;
  fails: 'before' | 'after' | undefined;

  async read(desk: string): Promise<StoredToken | undefined> {
    return await Promise.resolve(this.rows.get(desk));
  }

  async write({ desk, version, sealed, epoch }: TokenChange): Promise<boolean> {
    const fails = this.fails;
    this.fails = undefined;
    if (fails === 'before') throw new Error('connection lost');
    const isNext = (this.rows.get(desk)?.version ?? version - 1) === version - 1;
    if (isNext && (epoch === undefined || epoch === this.epoch))
      this.rows.set(desk, { desk, version, sealed });
    else return await Promise.resolve(false);
    if (fails === 'after') throw new Error('connection lost');
    return true;
  }
}

interface Start {
  readonly token: string;
  readonly desk?: string;
  readonly epoch?: number;
  readonly key?: string;
  readonly origin?: string;
  readonly isAccountChanged?: boolean;
}

/** Starts a desk with this token in its config. */
async function start(store: Rows, given: Start) {
  const token = new Secret(given.token);
  const warned: string[] = [];
  const kept = await DeskToken.open({
    store,
    key: keyFrom(given.key ?? KEY_TEXT),
    desk: given.desk ?? 'a',
    epoch: given.epoch ?? store.epoch,
    origin: given.origin ?? 'https://venue.example',
    token,
    account: `account of ${given.token}`,
    isAccountChanged: given.isAccountChanged ?? false,
    warn: (why) => warned.push(why),
  });
  return { kept, token, warned, use: () => token.reveal() };
}

/** A store in which the owner under epoch 1 replaced `t1` by `t2`; epoch 2 is the next. */
async function replaced(): Promise<Rows> {
  const store = new Rows();
  const first = await start(store, { token: 't1' });
  await first.kept.keep(first.token);
  await first.kept.keep(new Secret('t2'));
  store.epoch = 2;
  return store;
}

describe('the stored token of a desk', () => {
  it('is used by the next owner, which keeps the account of the journal', async () => {
    const next = await start(await replaced(), { token: 't1' });
    expect(next.use()).toBe('t2');
    expect(next.kept.account).toBe('account of t1');
    expect(next.kept.refusalOf(new Secret('t1'))).toContain('was replaced');
    expect(next.warned).toEqual([]);
  });

  it('takes precedence over a token that the desk has never used and that may be of another account', async () => {
    const next = await start(await replaced(), { token: 't3' });
    expect(next.use()).toBe('t2');
    expect(next.kept.refusalOf(new Secret('t3'))).toContain('never been used');
    expect(next.kept.refusalOf(new Secret('t4'))).toBeUndefined();
    expect(next.warned).toEqual([expect.stringContaining('has never been used by the desk')]);
  });

  it('stays the old one if the owner dies before the store has the new one', async () => {
    const store = await replaced();
    const owner = await start(store, { token: 't1' });
    store.fails = 'before';
    await expect(owner.kept.keep(new Secret('t3'))).rejects.toThrow('connection lost');
    expect((await start(store, { token: 't1' })).use()).toBe('t2');
  });

  it('is the new one if the owner dies after it was stored, and a retry of the change succeeds', async () => {
    const store = await replaced();
    const owner = await start(store, { token: 't1' });
    store.fails = 'after';
    await expect(owner.kept.keep(new Secret('t3'))).rejects.toThrow('connection lost');
    expect((await start(store, { token: 't1' })).use()).toBe('t3');
    await owner.kept.keep(new Secret('t3'));
    expect(store.rows.get('a')?.version).toBe(3);
  });

  it('cannot be changed by an owner that was replaced', async () => {
    const store = await replaced();
    const old = await start(store, { token: 't1', epoch: 1 });
    await expect(old.kept.keep(new Secret('t3'))).rejects.toThrow('another owner has the desk');
    expect((await start(store, { token: 't1' })).use()).toBe('t2');
  });

  it('prevents a start with another key or with the ciphertext of another desk or version', async () => {
    const store = await replaced();
    const row = store.rows.get('a') ?? { desk: 'a', version: 0, sealed: '' };
    await expect(start(store, { token: 't1', key: OTHER_KEY_TEXT })).rejects.toThrow('cannot be decrypted');
    store.rows.set('b', { ...row, desk: 'b' });
    await expect(start(store, { token: 't1', desk: 'b' })).rejects.toThrow('cannot be decrypted');
    store.rows.set('a', { ...row, version: 1 });
    await expect(start(store, { token: 't1' })).rejects.toThrow('cannot be decrypted');
  });

  it('is not used for another venue, and is replaced if a person confirms another account', async () => {
    const store = await replaced();
    const elsewhere = await start(store, { token: 't1', origin: 'https://other.example' });
    expect(elsewhere.use()).toBe('t1');
    expect(elsewhere.kept.account).toBe('account of t1');
    expect(elsewhere.warned).toHaveLength(1);
    const confirmed = await start(store, { token: 't9', isAccountChanged: true, key: OTHER_KEY_TEXT });
    await confirmed.kept.keep(confirmed.token);
    const next = await start(store, { token: 't9', key: OTHER_KEY_TEXT });
    expect(next.kept.account).toBe('account of t9');
  });

  it('is reported to the owner once if a person has stored it', async () => {
    const store = await replaced();
    const [owner, person] = [await start(store, { token: 't1' }), await start(store, { token: 't1' })];
    expect(await owner.kept.newer()).toBeUndefined();
    await person.kept.keep(new Secret('t3'));
    expect((await owner.kept.newer())?.reveal()).toBe('t3');
    expect(await owner.kept.newer()).toBeUndefined();
  });
});
