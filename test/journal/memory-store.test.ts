import { Subject, firstValueFrom, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../src/engine/owner/lease-port.ts';
import { deskStore } from './desk-store.ts';
import { describeStore } from './describe-store.ts';
import { MemoryStore } from './memory-store.ts';
import { NINE } from './records.ts';

describeStore('memory', async () => {
  let now: number = NINE;
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    await Promise.resolve();
  };
  return await Promise.resolve({ store: new MemoryStore({ now: () => now }), pass });
});

describe('the memory store', () => {
  const request = { desk: 'main', owner: 'a', leaseMs: 100 };
  const control = { kind: 'control', state: 'active', by: 'test', why: 'x' } as const;

  it('ends every lease at a failover, even if an epoch repeats, and warns the next owner of missing records', async () => {
    let now: number = NINE;
    const old = new MemoryStore({ now: () => now });
    const stale = (await firstValueFrom(old.acquire(request))) as Lease;
    const journal = await firstValueFrom(deskStore(old).open(stale));
    await firstValueFrom(journal?.append([control], NINE) as never);
    const confirmed = old.commits;
    now += 200;
    await firstValueFrom(old.acquire({ ...request, owner: 'b' }));
    const next = old.promoted(confirmed, 'memory/2');
    expect(next.ownershipOf('main')).toMatchObject({ owner: 'a', epoch: 1 });
    expect(await firstValueFrom(next.renew(stale, 100))).toBeUndefined();
    expect(await firstValueFrom(next.insert(stale, []))).toBe(false);
    const lease = (await firstValueFrom(next.acquire({ ...request, owner: 'c' }))) as Lease;
    expect(lease).toMatchObject({ epoch: 2, timeline: 'memory/2' });
    const opened = await firstValueFrom(deskStore(next).open(lease));
    expect(opened?.oddity).toMatchObject({ what: 'rolled_back' });
    // An owner that dies before its first record has not reported the oddity.
    expect((await firstValueFrom(deskStore(next).open(lease)))?.oddity).toBeDefined();
    await firstValueFrom(opened?.append([control], NINE) as never);
    expect((await firstValueFrom(deskStore(next).open(lease)))?.oddity).toBeUndefined();
  });

  it('does not let a takeover happen between the check of a write and its commit', async () => {
    let now: number = NINE;
    const durable$ = new Subject<undefined>();
    let isSlow = false;
    const store = new MemoryStore({
      now: () => now,
      get durable$() {
        return isSlow ? durable$.pipe(take(1)) : undefined;
      },
    });
    const lease = (await firstValueFrom(store.acquire(request))) as Lease;
    isSlow = true;
    const done: string[] = [];
    store.insert(lease, []).subscribe(() => done.push('written'));
    now += 200;
    store.acquire({ ...request, owner: 'b' }).subscribe(() => done.push('taken over'));
    expect(done).toEqual([]);
    durable$.next(undefined);
    expect(done).toEqual(['written']);
    durable$.next(undefined);
    expect(done).toEqual(['written', 'taken over']);
  });
});
