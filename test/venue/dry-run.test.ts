import { firstValueFrom, from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { compareRowIds } from '../../src/core/ids.ts';
import { quantity, text } from '../../src/core/money.ts';
import type { FillRecord } from '../../src/core/record.ts';
import { after } from '../../src/core/time.ts';
import type { Size, Transaction } from '../../src/core/venue.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../../src/simulator/options/options.ts';
import { inProcessVenue } from '../../src/simulator/port.ts';
import { dryRunVenue } from '../../src/venue/dry-run.ts';
import { START } from '../engine/harness.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

interface World {
  readonly real: Exchange;
  readonly dry: VenuePort;
  trade(side: 'buy' | 'sell', size: Size, clientId: string): Promise<string>;
  rows(): Promise<readonly Transaction[]>;
}

async function aWorld(past: readonly FillRecord[] = []): Promise<World> {
  const clock = new VirtualClock(START);
  const real = new Exchange({ options: venueOptions({ limits: { enforced: false } }), startedAt: START });
  const dry = dryRunVenue(inProcessVenue(real, { clock }), { clock, past });
  await firstValueFrom(dry.currencies());
  return {
    real,
    dry,
    async trade(side, size, clientId) {
      const answer = await firstValueFrom(toObservable(dry.quote({ pair: 'btcusd', side, size, clientId })));
      if (answer.kind !== 'quote') throw new Error(`no quote: ${JSON.stringify(answer)}`);
      const { quoteId } = answer.quote;
      const ordered = await firstValueFrom(
        toObservable(dry.order({ pair: 'btcusd', side, size, quoteId, clientId })),
      );
      if (ordered.kind !== 'order') throw new Error(`no fill: ${JSON.stringify(ordered)}`);
      return text(ordered.order.filledAmount);
    },
    rows: async () => await firstValueFrom(dry.transactions({ from: after(START, -1000), limit: 1000 })),
  };
}

const one: Size = { by: 'quantity', quantity: quantity('1') };
const newest = (rows: readonly Transaction[], currency: string): string =>
  text(
    rows.filter((row) => row.currency === currency).toSorted((a, b) => compareRowIds(b.id, a.id))[0]
      ?.balance ?? quantity('0'),
  );

describe('a dry run', () => {
  it('fills orders at the real quote and sends no order', async () => {
    const world = await aWorld();
    const before = world.real.ledger.rows('desk').length;
    await world.trade('buy', one, 'a');
    expect(world.real.ledger.rows('desk')).toHaveLength(before);
  });

  it('shows the balances that its trades would have left, one after the other', async () => {
    const world = await aWorld();
    const paid = await world.trade('buy', one, 'a');
    const got = await world.trade('sell', { by: 'quantity', quantity: quantity('3') }, 'b');
    const rows = await world.rows();
    expect(newest(rows, 'btc')).toBe('23');
    expect(newest(rows, 'usd')).toBe(text(quantity('1000000').minus(paid).plus(got) as never));
    const balances = await firstValueFrom(from(world.dry.balances?.() ?? []));
    expect(text(balances.find(({ currency }) => currency === 'btc')?.available ?? quantity('0'))).toBe('23');
  });

  it('includes later changes of the real account', async () => {
    const world = await aWorld();
    await world.trade('buy', one, 'a');
    world.real.deposit('desk', 'btc', quantity('2'), START);
    expect(newest(await world.rows(), 'btc')).toBe('28');
  });

  it('gives a row the same id in every process, and asks the venue for none of them', async () => {
    const world = await aWorld();
    await world.trade('buy', one, 'a');
    const own = (rows: readonly Transaction[]): readonly string[] =>
      rows.filter(({ clientId }) => clientId === 'a').map(({ id }) => id);
    const ids = own(await world.rows());
    expect(ids.toSorted()).toEqual(['dry-run-a-btc', 'dry-run-a-usd']);
    const query = { from: after(START, -1000), limit: 1000, after: ids[0] };
    expect((await firstValueFrom(world.dry.transactions(query))).length).toBe((await world.rows()).length);
  });

  it('executes a quote once', async () => {
    const world = await aWorld();
    const request = { pair: 'btcusd', side: 'buy', size: one, clientId: 'a' } as const;
    const quoted = await firstValueFrom(toObservable(world.dry.quote(request)));
    if (quoted.kind !== 'quote') throw new Error('no quote');
    const order = { ...request, quoteId: quoted.quote.quoteId };
    await firstValueFrom(toObservable(world.dry.order(order)));
    expect(await firstValueFrom(toObservable(world.dry.order(order)))).toEqual({
      kind: 'lost',
      sent: false,
      why: 'unknown quote',
    });
  });

  it('continues from the fills of earlier dry runs in the journal', async () => {
    const fill = {
      client_order_id: 'old',
      order_id: 'dry-1',
      side: 'buy',
      quantity: '2',
      amount: '100000',
      executed_at: after(START, -10),
      pair: 'btcusd',
      base: 'btc',
      quote: 'usd',
    } as FillRecord;
    const world = await aWorld([fill]);
    await world.trade('buy', one, 'a');
    const rows = await world.rows();
    expect(newest(rows, 'btc')).toBe('28');
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });
});
