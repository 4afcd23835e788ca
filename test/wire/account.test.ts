import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { text } from '../../src/core/money.ts';
import { currenciesSchema, errorSchema, transactionsSchema } from '../../src/wire/account.ts'; // prettier-ignore
import { readBody, readMessage } from '../../src/wire/message.ts';

function read<T>(
  schema: z.ZodType<T>,
  source: string,
): { readonly value: T; readonly extras: readonly string[] } {
  const message = readMessage(schema, readBody(source));
  if (!message.ok) throw new Error(message.why);
  return message;
}
const why = (schema: z.ZodType, source: string): string => {
  const message = readMessage(schema, readBody(source));
  return message.ok ? 'read' : message.why;
};

const trade =
  '{"id":9007199254740991,"order_id":18446744,"client_order_id":"tr-1","trade_id":"55","day":"2026-01-02T03:04:05.000Z","action":"Buy",' +
  '"currency":"BTC","memo":"","amount":0.100000000000000001,"net_proceeds":0.1,"price":60001.000000000000000009,"fees":0,"status":"done",' +
  '"hold_expires":"","tx_hash":"","algo_name":"Instant","algo_id":"150","account_balance":12345678.000000000000000001,"AccountTransferFee":0,' +
  '"description":"","wallet_display_id":"w","added_by_user_email":"desk@example.com","symbol":"btcusd","IdempotencyId":null,"timestamp":1767323045000';

describe('a list of transactions', () => {
  it('keeps every digit, the largest safe id and both spellings of the account transaction id', () => {
    for (const spelling of ['atxid', 'AtxId']) {
      const { value, extras } = read(transactionsSchema, `[${trade},"${spelling}":null}]`);
      const [row] = value;
      expect(row).toMatchObject({
        id: '9007199254740991',
        orderId: '18446744',
        clientId: 'tr-1',
        tradeId: '55',
        action: 'buy',
        currency: 'btc',
        at: 1767323045000,
      });
      expect(row?.balance && [row.amount, row.balance, row.fees].map(text)).toEqual([
        '0.100000000000000001',
        '12345678.000000000000000001',
        '0',
      ]);
      expect(row?.price && text(row.price)).toBe('60001.000000000000000009');
      expect(extras).toEqual([]);
    }
  });

  it('names each unknown field once', () => {
    const rows = `[${trade},"new_a":1,"new_b":{"deep":1}},${trade},"new_a":2}]`;
    expect(read(transactionsSchema, rows).extras).toEqual(['new_a', 'new_b']);
  });
});

describe('a list of currencies', () => {
  it('is read with symbols in lower case and with flags', () => {
    const row =
      '{"id":1,"symbol":"BTC","name":"Bitcoin","is_fiat":0,"is_lending_enabled":1,"can_deposit":1,"can_withdraw":1,"min_withdrawal":0.00010000000000000001,' +
      '"confirmations_needed":3,"precision":8,"ascii_sign":"₿","contract_address":null,"custody_enabled":1,"trading_enabled":0,"primary_network":null,"code":"BTC","currency":"btc"}';
    const { value, extras } = read(currenciesSchema, `[${row}]`);
    expect(value).toMatchObject([
      { symbol: 'btc', name: 'Bitcoin', isFiat: false, precision: 8, tradingEnabled: false },
    ]);
    expect(value[0] && text(value[0].minWithdrawal)).toBe('0.00010000000000000001');
    expect(extras).toEqual([]);
  });

  it('is unreadable without a precision, on which sizes depend', () => {
    expect(why(currenciesSchema, '[{"symbol":"btc"}]')).toMatch(/^0\.precision/u);
  });
});

describe('the other account schemas', () => {
  it('read an error only if it is text', () => {
    expect(errorSchema.safeParse({ error: 'internal error', code: 1 }).data).toEqual({
      error: 'internal error',
    });
    for (const body of [{}, { error: 1 }, { error: null }, 'error', []])
      expect(errorSchema.safeParse(body).success).toBe(false);
  });
});
