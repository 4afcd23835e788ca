import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { FencedOut, OperatorError } from '../../src/core/errors.ts';
import type { Lease } from '../../src/engine/owner/lease-port.ts';
import { deskStore } from './desk-store.ts';
import type { DeskStore, OwnedJournal } from './desk-store.ts';
import type { RecordStore } from '../../src/journal/owned/record-store.ts';
import { EMPTY, tie, verify } from '../../src/journal/proof/chain.ts';
import type { Line } from '../../src/journal/proof/chain.ts';
import { control } from './describe-journal.ts';
import { NINE, appended, everyKind, failureOf } from './records.ts';

/** A store under test, with control over the clock of its server. */
export interface TestedStore {
  readonly store: RecordStore;
  /** Advances the clock of the server. */
  readonly pass: (ms: number) => Promise<void>;
}

const LEASE_MS = 300;

/** Tests that every store of desks must pass. `make` returns an empty store. */
export function describeStore(name: string, make: () => Promise<TestedStore>): void {
  describe(`${name} store, as a store of leases`, () => {
    it('gives each desk to one owner at a time', async () => {
      const { store } = await make();
      const lease = await acquired(store, 'a');
      expect(lease).toMatchObject({ desk: 'main', owner: 'a', epoch: 1 });
      expect(await firstValueFrom(store.acquire(request('b')))).toBeUndefined();
      expect(await firstValueFrom(store.acquire({ ...request('b'), desk: 'other' }))).toMatchObject({
        epoch: 1,
      });
    });

    it('gives a desk to exactly one of several owners who ask at the same time', async () => {
      const { store } = await make();
      const owners = Array.from({ length: 8 }, (_, n) => String(n));
      const leases = await Promise.all(
        owners.map(async (owner) => await firstValueFrom(store.acquire(request(owner)))),
      );
      expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
    });

    it('raises the epoch when a desk is acquired after its lease has ended', async () => {
      const { store, pass } = await make();
      await acquired(store, 'a');
      await pass(LEASE_MS + 50);
      expect(await acquired(store, 'b')).toMatchObject({ owner: 'b', epoch: 2 });
    });

    it('renews an ended lease unless another owner has taken over', async () => {
      const { store, pass } = await make();
      const lease = await acquired(store, 'a');
      await pass(LEASE_MS + 50);
      const renewed = await firstValueFrom(store.renew(lease, LEASE_MS));
      expect(renewed).toMatchObject({ epoch: 1 });
      expect(renewed?.until).toBeGreaterThan(lease.until);
      expect(await firstValueFrom(store.acquire(request('b')))).toBeUndefined();
      await pass(LEASE_MS + 50);
      await acquired(store, 'b');
      expect(await firstValueFrom(store.renew(lease, LEASE_MS))).toBeUndefined();
    });

    it('gives away a released desk immediately and does not let an earlier owner release it', async () => {
      const { store } = await make();
      const lease = await acquired(store, 'a');
      await firstValueFrom(store.release(lease));
      const next = await acquired(store, 'b');
      await firstValueFrom(store.release(lease));
      expect(await firstValueFrom(store.acquire(request('c')))).toBeUndefined();
      expect(await firstValueFrom(store.renew(next, LEASE_MS))).toBeDefined();
    });
  });

  describe(`${name} store, as a journal`, () => {
    it('returns all records of the previous owner to the next one', async () => {
      const { store, pass } = await make();
      const first = await opened(store, 'a');
      expect([...first.journal.read()]).toEqual([]);
      const stored = await appended(first.journal, everyKind());
      expect(stored.map(({ body }) => body)).toEqual(everyKind());
      await pass(LEASE_MS + 50);
      const second = await opened(store, 'b');
      expect([...second.journal.read()]).toEqual(stored);
      expect([...second.journal.read(stored.length - 1)]).toEqual(stored.slice(-1));
      await appended(second.journal, [control('goes on')]);
      const found = await firstValueFrom(store.read(second.lease));
      expect(verify(found?.lines ?? [])).toMatchObject({ ok: true, count: stored.length + 1 });
    });

    it('writes concurrent appends in the order of their calls', async () => {
      const { store } = await make();
      const { journal, lease } = await opened(store, 'a');
      const whys = Array.from({ length: 20 }, (_, n) => String(n));
      const all = await Promise.all(whys.map(async (why) => await appended(journal, [control(why)])));
      expect(all.flat().map(({ seq }) => seq)).toEqual(whys.map((_, n) => n + 1));
      expect(verify((await firstValueFrom(store.read(lease)))?.lines ?? [])).toMatchObject({
        ok: true,
        count: 20,
      });
    });

    it('lets an owner whose lease has ended write until another owner takes over', async () => {
      const { store, pass } = await make();
      const { journal } = await opened(store, 'a');
      await pass(LEASE_MS + 50);
      expect(await appended(journal, [control('late, and alone')])).toHaveLength(1);
    });

    it('refuses all records of an owner after another one has taken over', async () => {
      const { store, pass } = await make();
      const first = await opened(store, 'a');
      await appended(first.journal, [control('in time')]);
      await pass(LEASE_MS + 50);
      const second = await opened(store, 'b');
      const late = await failureOf(first.journal, [control('too late')]);
      expect(late).toBeInstanceOf(FencedOut);
      expect(late).toMatchObject({ exit: 'again' });
      expect(await failureOf(first.journal, [control('again')])).toBeInstanceOf(FencedOut);
      await appended(second.journal, [control('from the next')]);
      const found = await firstValueFrom(store.read(second.lease));
      expect(found?.lines.map(({ body }) => body).join('')).not.toContain('late');
      expect(await firstValueFrom(store.read(first.lease))).toBeUndefined();
    });

    it('refuses lines that do not follow the last one', async () => {
      const { store } = await make();
      const first = await opened(store, 'a');
      const same = await firstValueFrom(deskStore(store).open(first.lease));
      await appended(first.journal, [control('one')]);
      expect(await failureOf(same ?? first.journal, [control('another one')])).toMatchObject({
        exit: 'storage',
      });
      expect((await firstValueFrom(store.read(first.lease)))?.lines).toHaveLength(1);
    });

    it('refuses lines whose predecessor is missing, so that the chain has no gap', async () => {
      const { store } = await make();
      const { lease } = await opened(store, 'a');
      const [one, two] = tie(EMPTY, [control('one'), control('two')], NINE).map(({ line }) => line);
      const add = async (line: Line | undefined): Promise<boolean> =>
        await firstValueFrom(store.insert(lease, line === undefined ? [] : [line]));
      await expect(add(two)).rejects.toThrow(/follow|missing|storage/u);
      expect(await add(one)).toBe(true);
      expect(await add(two)).toBe(true);
    });

    it('stores evidence of a replaced owner outside the chain', async () => {
      const { store, pass } = await make();
      const first = await opened(store, 'a');
      await pass(LEASE_MS + 50);
      const second = await opened(store, 'b');
      first.journal.fence?.evidence([control('late')], NINE);
      await appended(second.journal, [control('from the next')]);
      expect((await firstValueFrom(store.read(second.lease)))?.lines).toHaveLength(1);
    });

    it('refuses appends after it was closed', async () => {
      const { store } = await make();
      const { journal } = await opened(store, 'a');
      journal.close();
      expect(await failureOf(journal, [control('closed')])).toBeInstanceOf(OperatorError);
    });
  });
}

const request = (owner: string): { desk: string; owner: string; leaseMs: number } => ({
  desk: 'main',
  owner,
  leaseMs: LEASE_MS,
});

async function acquired(store: RecordStore, owner: string): Promise<Lease> {
  const lease = await firstValueFrom(store.acquire(request(owner)));
  if (lease === undefined) throw new Error(`${owner} does not get the desk`);
  return lease;
}

async function opened(
  store: RecordStore,
  owner: string,
): Promise<{ readonly lease: Lease; readonly journal: OwnedJournal }> {
  const lease = await acquired(store, owner);
  const desks: DeskStore<OwnedJournal> = deskStore(store);
  const journal = await firstValueFrom(desks.open(lease));
  if (journal === undefined) throw new Error(`${owner} does not get the journal`);
  return { lease, journal };
}
