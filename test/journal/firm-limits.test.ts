import { Observable, firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FirmLimitsStore } from '../../src/app/fleet/limits/firm-limits.ts';
import type { FirmLimits, FirmUse } from '../../src/app/fleet/limits/firm-limits.ts';
import type { IntentRecord, RecordBody } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import { ownedChain } from '../../src/journal/owned/owned-chain.ts';
import type { OwnedChain } from '../../src/journal/owned/owned-chain.ts';
import { BlockingClient } from '../../src/journal/postgres/blocking-client.ts';
import { PostgresFault } from '../../src/journal/postgres/postgres-errors.ts';
import { PostgresStore } from '../../src/journal/postgres/postgres-store.ts';
import { readPostgresUrl } from '../../src/journal/postgres/postgres-url.ts';
import { preparePostgres } from '../../src/journal/postgres/prepare.ts';
import { ServerSession } from '../../src/journal/postgres/server-session.ts';
import type { Session } from '../../src/journal/postgres/session.ts';
import { noPostgres, startPostgres } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';
import { aFill } from './records.ts';

const missing = noPostgres();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;

const started = (mode: string, currency = 'usd'): RecordBody => ({
  kind: 'started',
  version: '0.1.0',
  mode,
  desk: 'any',
  config_hash: 'c0',
  account: 'a0',
  limits: { currency },
});

const anIntent = (id: string, given: Partial<IntentRecord> = {}): IntentRecord => ({
  kind: 'intent',
  client_order_id: id,
  strategy: 's',
  parent: 'p',
  slice: 0,
  attempt: 0,
  pair: 'btcusd',
  base: 'btc',
  quote: 'usd',
  side: 'buy',
  by: 'quantity',
  size: '1',
  worst_price: '60000',
  reference_price: '60000',
  notional_usd: '60000',
  cuts: [],
  ...given,
});

describe.skipIf(missing !== undefined)(`the limits of the firm in PostgreSQL${because}`, () => {
  let server: PostgresServer;
  let desks = 0;
  beforeAll(async () => {
    server = await startPostgres();
    preparePostgres(server.url('any'));
  });
  afterAll(async () => {
    await server.stop();
  });

  /** An owner of a new desk, or of one whose owner has died. */
  const own = async (
    mode: string,
    { desk = `desk${(desks += 1)}`, through = (session: Session): Session => session, currency = 'usd' } = {},
  ): Promise<Owner> => {
    const { connectionString } = readPostgresUrl(server.url('any'));
    const session = new ServerSession({ connectionString, shown: desk, timeoutMs: 5_000 });
    onTestFinished(() => {
      session.close();
    });
    const store = new PostgresStore(through(session), { shown: desk });
    const lease = await firstValueFrom(store.acquire({ desk, owner: 'test', leaseMs: 0 }));
    const end = lease && (await firstValueFrom(store.end(lease)));
    if (lease === undefined || end === undefined) throw new Error(`desk ${desk} is taken`);
    const chain = ownedChain(store, { lease, head: end.head, where: desk });
    const owner = new Owner(desk, chain);
    await owner.write(started(mode, currency));
    return owner;
  };
  /** Limits count each mode separately: each test has its own mode, so that no test counts the orders of another. */
  const limit = async (
    limits: Omit<FirmLimits, 'currency' | 'positions'> & Partial<FirmLimits>,
  ): Promise<void> => {
    const store = new FirmLimitsStore(server.url('any'));
    await store.set({ currency: 'usd', positions: {}, ...limits }, { person: 'ann', why: 'test' });
    await store.close();
  };
  const useOf = async (mode: string): Promise<FirmUse['used'] | undefined> => {
    const store = new FirmLimitsStore(server.url('any'));
    const all = await store.read();
    await store.close();
    return all.find((one) => one.mode === mode)?.used;
  };

  it('refuse intents of concurrent owners that together would exceed the daily notional', async () => {
    await limit({ mode: 'race', dayNotional: '600000' });
    const owners = await Promise.all([own('race'), own('race'), own('race'), own('race')]);
    const refusals = await Promise.all(
      owners.flatMap((owner, of) =>
        Array.from({ length: 5 }, async (_, index) => await owner.reserve(anIntent(`race-${of}-${index}`))),
      ),
    );
    expect(refusals.filter((one) => one === undefined)).toHaveLength(10);
    expect(refusals.find((one) => one !== undefined)).toBe(
      'day notional of the firm: limit=600000 value=660000 usd',
    );
    expect(await useOf('race')).toMatchObject({ dayNotional: '600000' });
  });

  it('release the reservations of attempts that did not trade and count fills at their actual notional', async () => {
    await limit({ mode: 'settle', dayNotional: '100000' });
    const [a, b] = [await own('settle'), await own('settle')];
    expect(await a.reserve(anIntent('one'))).toBeUndefined();
    expect(await b.reserve(anIntent('two'))).toContain('value=120000');
    // The refusal does not reserve.
    await b.write({ kind: 'attempt', client_order_id: 'two', result: 'discarded' });
    await a.write({ kind: 'attempt', client_order_id: 'one', result: 'rejected' });
    expect(await useOf('settle')).toMatchObject({ dayNotional: '0' });
    expect(await b.reserve(anIntent('three'))).toBeUndefined();
    await b.write(
      aFill({ client_order_id: 'three', notional_usd: '30000', quantity: '0.5', executed_at: now() }),
      { kind: 'attempt', client_order_id: 'three', result: 'filled' },
    );
    expect(await useOf('settle')).toMatchObject({ dayNotional: '30000', positions: { btc: '0.5' } });
    expect(await a.reserve(anIntent('four'))).toBeUndefined();
    expect(await a.reserve(anIntent('five', { notional_usd: '10001' }))).toContain('value=100001');
  });

  it('keep the reservation of a dead owner until its successor knows the outcome', async () => {
    await limit({ mode: 'death', dayNotional: '1000000', openDoubts: 1 });
    const [dead, other] = [await own('death'), await own('death')];
    expect(await dead.reserve(anIntent('lost'))).toBeUndefined();
    expect(await other.reserve(anIntent('beside'))).toBeUndefined();
    await other.write({ kind: 'attempt', client_order_id: 'beside', result: 'absent' });
    const heir = await own('death', { desk: dead.desk });
    expect(await other.reserve(anIntent('after'))).toBe('open doubts of the firm: limit=1 value=1');
    await heir.write({ kind: 'attempt', client_order_id: 'lost', result: 'doubt' });
    expect(await useOf('death')).toMatchObject({ dayNotional: '60000', openDoubts: 1 });
    await heir.write({ kind: 'attempt', client_order_id: 'lost', result: 'absent' });
    expect(await useOf('death')).toMatchObject({ dayNotional: '0', openDoubts: 0 });
    expect(await other.reserve(anIntent('later'))).toBeUndefined();
  });

  it('count the positions of all desks, with open orders of the same side only', async () => {
    await limit({ mode: 'position', positions: { btc: '2' } });
    const [a, b] = [await own('position'), await own('position')];
    expect(await a.reserve(anIntent('buy-1'))).toBeUndefined();
    expect(await b.reserve(anIntent('buy-2'))).toBeUndefined();
    expect(await b.reserve(anIntent('sell-1', { side: 'sell', size: '2' }))).toBeUndefined();
    expect(await a.reserve(anIntent('buy-3', { size: '0.1' }))).toBe(
      'position of the firm in btc: limit=2 value=2.1',
    );
    expect(await a.reserve(anIntent('sell-2', { side: 'sell', size: '0.1' }))).toContain('value=-2.1');
    expect(await a.reserve(anIntent('other', { base: 'eth', size: '500' }))).toBeUndefined();
    expect(await a.reserve(anIntent('by-amount', { base: 'btc', by: 'amount', size: '1' }))).toContain(
      'limit=2',
    );
  });

  it('count each mode separately and refuse an intent that they cannot compare', async () => {
    await limit({ mode: 'live-like', dayNotional: '60000' });
    await limit({ mode: 'paper-like', dayNotional: '600000' });
    const [live, paper] = [await own('live-like'), await own('paper-like')];
    expect(await paper.reserve(anIntent('paper-1'))).toBeUndefined();
    expect(await live.reserve(anIntent('unknown', { notional_usd: '0' }))).toContain('no known value');
    const euro = await own('live-like', { currency: 'eur' });
    expect(await euro.reserve(anIntent('euro'))).toBe(
      'the limits of the desk are in eur, those of the firm in usd',
    );
    expect(await live.reserve(anIntent('live-1'))).toBeUndefined();
    expect(await useOf('paper-like')).toMatchObject({ dayNotional: '60000' });
  });

  it('count a statement once if it was repeated because its answer was lost', async () => {
    await limit({ mode: 'again', dayNotional: '100000' });
    let losses = 0;
    const losing = (session: Session): Session => ({
      ask: (statement) => {
        const answer = session.ask(statement);
        if (!statement.text.includes('firm_count') || losses === 0) return answer;
        losses -= 1;
        return new Observable((subscriber) => {
          answer.subscribe({
            complete: () => subscriber.error(new PostgresFault({ code: '08006', message: 'lost' })),
          });
        });
      },
    });
    const owner = await own('again', { through: losing });
    losses = 1;
    expect(await owner.reserve(anIntent('twice'))).toBeUndefined();
    expect(losses).toBe(0);
    losses = 1;
    expect(await owner.reserve(anIntent('refused'))).toContain('value=120000');
    losses = 1;
    await owner.write(aFill({ client_order_id: 'twice', notional_usd: '50000' }));
    expect(await useOf('again')).toMatchObject({ dayNotional: '50000' });
  });

  it('count the records that desks wrote before limits were set', async () => {
    const client = new BlockingClient(readPostgresUrl(server.url('any')).connectionString, 5_000);
    onTestFinished(() => {
      client.close();
    });
    const owner = await own('late');
    // The state that a version without limits of the firm leaves.
    client.query('DELETE FROM tranche.firm_desk WHERE desk = $1', [owner.desk]);
    client.query('INSERT INTO tranche.firm_desk (desk, seq) VALUES ($1, 0)', [owner.desk]);
    await limit({ mode: 'late', dayNotional: '100000' });
    expect(await owner.reserve(anIntent('first'))).toBeUndefined();
    expect(await useOf('late')).toMatchObject({ dayNotional: '60000' });
  });
});

class Owner {
  readonly desk: string;
  readonly #chain: OwnedChain;

  constructor(desk: string, chain: OwnedChain) {
    this.desk = desk;
    this.#chain = chain;
  }

  async write(...bodies: readonly RecordBody[]): Promise<void> {
    await firstValueFrom(toObservable(this.#chain.append(bodies, now())));
  }

  /** Appends the intent and returns the reason if the limits of the firm refuse it. */
  async reserve(intent: IntentRecord): Promise<string | undefined> {
    await this.write(intent);
    return this.#chain.fence?.refusalOf?.(intent.client_order_id);
  }
}

const now = (): ReturnType<typeof instant> => instant(Date.now());
