import { EMPTY, firstValueFrom, take, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { quantity, text } from '../../src/core/money.ts';
import { after } from '../../src/core/time.ts';
import { marketFeed } from '../../src/venue/socket-market.ts';
import { tradingVenue } from '../../src/venue/trading.ts';
import { aVenue } from '../simulator/client.ts';
import { client, systemClock } from './servers.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

/** Client and simulated venue were written separately from one specification; this checks them against each other. */
describe('the venue client with the simulated venue', () => {
  it('quotes, trades and reads the account, and knows every field', async () => {
    await using simulated = await aVenue({ limits: { enforced: false } });
    const extras: string[] = [];
    const venue = tradingVenue({
      http: client(simulated.baseUrl, { token: { reveal: () => simulated.tokens[0] ?? '' } }),
      capabilities: { balances: true, pairs: true, orderLookup: true },
      sellPath: '/v1/orders/sell',
      orderTimeoutMs: 5_000,
      onExtras: (resource, names) => extras.push(...names.map((name) => `${resource}.${name}`)),
    });
    const from = after(systemClock.wall(), -3_600_000);
    const size = { by: 'quantity', quantity: quantity('0.1') } as const;

    for (const side of ['buy', 'sell'] as const) {
      const clientId = `tr-${side}`;
      const answer = await firstValueFrom(
        toObservable(venue.quote({ pair: 'btcusd', side, size, clientId })),
      );
      if (answer.kind !== 'quote') throw new Error(JSON.stringify(answer));
      const { quoteId } = answer.quote;
      const order = await firstValueFrom(
        toObservable(venue.order({ pair: 'btcusd', side, quoteId, size, clientId })),
      );
      expect(order).toMatchObject({ kind: 'order', order: { side, clientId, quoteId, status: 'Done' } });
      expect(order.kind === 'order' && text(order.order.filled)).toBe('0.1');
      expect(await firstValueFrom(venue.lookup?.(clientId) ?? EMPTY)).toMatchObject({ clientId });
    }
    const rows = await firstValueFrom(venue.transactions({ from, limit: 1000 }));
    expect(
      rows
        .filter(({ clientId }) => clientId === 'tr-buy')
        .map(({ currency }) => currency)
        .toSorted(),
    ).toEqual(['btc', 'usd']);
    expect(await firstValueFrom(venue.lookup?.('tr-never') ?? EMPTY)).toBeUndefined();
    expect((await firstValueFrom(venue.currencies())).map(({ symbol }) => symbol)).toContain('btc');
    expect((await firstValueFrom(venue.pairs?.() ?? EMPTY)).map(({ pair }) => pair)).toContain('btcusd');
    expect((await firstValueFrom(venue.balances?.() ?? EMPTY)).map(({ currency }) => currency)).toContain(
      'usd',
    );
    expect((await firstValueFrom(venue.fundingRates())).length).toBeGreaterThan(0);
    expect((await firstValueFrom(venue.riskModes())).size).toBeGreaterThan(0);
    expect((await firstValueFrom(venue.valuation(from))).length).toBeGreaterThan(0);
    expect(extras).toEqual([]);
  });

  it('receives the mids of the order book and the last trades of the ticker', async () => {
    await using simulated = await aVenue({ tickerIntervalMs: 50 });
    const token = { reveal: () => simulated.tokens[0] ?? '' };
    const { prices$ } = marketFeed({
      wsUrl: simulated.wsUrl,
      token,
      pairs: ['btcusd'],
      clock: systemClock,
      random: { next: () => 0 },
    });
    const prices = await firstValueFrom(prices$.pipe(take(2), toArray()));
    expect(prices.map(({ pair, mid }) => [pair, text(mid)])).toEqual([['btcusd', '60000'], ['btcusd', '60000']]); // prettier-ignore
    expect(new Set(prices.map(({ source }) => source))).toEqual(new Set(['book', 'ticker']));
  });
});
