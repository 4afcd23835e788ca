import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { price, quantity } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import { startVenue } from '../../src/simulator/venue.ts';
import { still, systemClock } from './world.ts';

const stateFile = (): string => join(mkdtempSync(join(tmpdir(), 'venue-state-')), 'venue.db');
const ready = z.object({ baseUrl: z.string(), token: z.string() });

/** A venue in a separate process, with a client. */
class Mortal {
  private readonly child: ChildProcess;
  private readonly at: z.output<typeof ready>;

  private constructor(child: ChildProcess, at: z.output<typeof ready>) {
    this.child = child;
    this.at = at;
  }

  static async start(file: string): Promise<Mortal> {
    const script = join(import.meta.dirname, 'state-venue.ts');
    const child = spawn(process.execPath, [script, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return new Mortal(child, ready.parse(JSON.parse(line)));
  }

  async ask(method: string, path: string, body?: object): Promise<string> {
    const answer = await fetch(`${this.at.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.at.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return `${answer.status} ${await answer.text()}`;
  }

  /** Leaves the process no chance to clean up. */
  async kill(): Promise<void> {
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}

const READS = [
  '/v1/account/transactions?pending=true',
  '/v1/user/balance',
  '/v1/orders',
  '/v1/orders/done',
  '/v1/account/trades',
  '/v1/whitelisted-addresses',
  '/v1/approval-rules',
  '/v1/approvals',
  '/v1/post-trade-settlement/positions',
];
const quoteId = (answer: string): string => /"quote_id":"([^"]+)"/u.exec(answer)?.[1] ?? '';

describe('a venue with a state file', () => {
  it('restores its accounts, ledger, orders, quotes and ids after SIGKILL', async () => {
    const file = stateFile();
    const first = await Mortal.start(file);
    const quote = { pair: 'btcusd', side: 'buy', quantity: 2 };
    const order = (id: string, clientId?: string): object => ({
      currency_pair: 'btcusd',
      quote_id: id,
      quantity: 2,
      ...(clientId === undefined ? {} : { client_order_id: clientId }),
    });
    const filled = quoteId(await first.ask('POST', '/v1/quote', { ...quote, client_quote_id: 'once' }));
    expect(await first.ask('POST', '/v1/orders/buy', order(filled, 'once'))).toContain('"status":"Done"');
    const open = quoteId(await first.ask('POST', '/v1/quote', quote));
    const limit = { currency_pair: 'btcusd', algorithm_id: 201, quantity: 1.5, price: 50_000 };
    const placed = await first.ask('POST', '/v1/orders/buy', limit);
    const orderId = /"id":(\d+)/u.exec(placed)?.[1] ?? '';
    expect(await first.ask('DELETE', `/v1/orders/${orderId}`)).toBe('200 {"status":"cancel pending"}');
    expect(
      await first.ask('POST', '/v1/user/withdraw', { currency: 'btc', amount: 1, address: 'bc1' }),
    ).toMatch(/^200/u);
    expect(
      await first.ask('POST', '/v1/whitelisted-addresses', { currency_symbol: 'btc', address: 'bc1' }),
    ).toMatch(/^200/u);
    expect(
      await first.ask('POST', '/v1/approval-rules', {
        rule_type: 'WITHDRAW',
        required_approvals: 1,
        threshold: 5,
      }),
    ).toMatch(/^200/u);
    const before = await Promise.all(READS.map(async (path) => await first.ask('GET', path)));
    await first.kill();

    const second = await Mortal.start(file);
    expect(await Promise.all(READS.map(async (path) => await second.ask('GET', path)))).toEqual(before);
    expect(await second.ask('POST', '/v1/orders/buy', order(filled, 'once'))).toMatch(/^422/u);
    const executed = await second.ask('POST', '/v1/orders/buy', order(open));
    expect(executed).toContain('"status":"Done"');
    expect(Number(/"id":(\d+)/u.exec(executed)?.[1])).toBeGreaterThan(Number(orderId));
    await second.kill();
  });

  it('restores the deposits, rewards, prices and availability that a drill has set', async () => {
    const file = stateFile();
    const first = await startVenue(still, { clock: systemClock, stateFile: file });
    const at = first.exchange.at;
    first.exchange.deposit('desk', 'usd', quantity('12.5'), at);
    first.exchange.reward('desk', { currency: 'btc', amount: quantity('1'), label: 'prize' }, at);
    first.exchange.pin('btcusd', price('1234.5'), at);
    first.exchange.setAvailability('ethusd', 'unavailable');
    const rows = first.exchange.ledger.rows('desk');
    await first.close();
    const second = await startVenue(still, { clock: systemClock, stateFile: file });
    expect(second.exchange.ledger.rows('desk')).toEqual(rows);
    expect(second.exchange.market.mid('btcusd', second.exchange.at).toFixed()).toBe('1234.5');
    const quoted = second.exchange.quote(
      'desk',
      { pair: 'ethusd', side: 'buy', size: { by: 'quantity', quantity: quantity('1') } },
      second.exchange.at,
    );
    expect(quoted.status).toBe(503);
    await second.close();
  });

  it('accepts a state file from before a setting existed if the setting has its default', async () => {
    const file = stateFile();
    await (await startVenue(still, { clock: systemClock, stateFile: file })).close();
    const db = new DatabaseSync(file);
    db.exec("DELETE FROM world WHERE key = 'quoteLifeMs'");
    db.close();
    await (await startVenue(still, { clock: systemClock, stateFile: file })).close();
    await expect(
      startVenue({ ...still, quoteLifeMs: 5_000 }, { clock: systemClock, stateFile: file }),
    ).rejects.toThrow('was created with other settings (quote_life_ms)');
  });

  it('refuses a state file from before a pair had a price file', async () => {
    const file = stateFile();
    await (await startVenue(still, { clock: systemClock, stateFile: file })).close();
    const tape = { startsAt: instant(0), endsAt: instant(1), rows: 1, barMs: 0, midAt: () => price('7') };
    await expect(
      startVenue(
        { ...still, prices: { btcusd: 'btc.csv' } },
        { clock: systemClock, stateFile: file, loadTape: async () => await Promise.resolve(tape) },
      ),
    ).rejects.toThrow('was created with other settings (prices.btcusd)');
  });

  it('refuses a state file with other settings, in use by another venue, or of another program', async () => {
    const file = stateFile();
    const first = await startVenue(still, { clock: systemClock, stateFile: file });
    await expect(startVenue(still, { clock: systemClock, stateFile: file })).rejects.toThrow(
      'another venue may be using it',
    );
    await first.close();
    await expect(
      startVenue({ ...still, seed: '2' }, { clock: systemClock, stateFile: file }),
    ).rejects.toThrow('was created with other settings (seed)');
    const again = await startVenue({ ...still, quoteLatencyMs: 3 }, { clock: systemClock, stateFile: file });
    await again.close();
    const text = stateFile();
    writeFileSync(text, 'not a database, but long enough to be looked at as one by anybody who opens it');
    await expect(startVenue(still, { clock: systemClock, stateFile: text })).rejects.toThrow(
      `cannot use ${text}`,
    );
  });
});
