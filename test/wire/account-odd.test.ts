import { describe, expect, it } from 'vitest';
import { clientId } from '../../src/core/ids.ts';
import { transactionsSchema } from '../../src/wire/account.ts';
import { readBody, readMessage } from '../../src/wire/message.ts';

const row = (over: Record<string, unknown>): Record<string, unknown> => ({
  id: 1,
  action: 'Buy',
  currency: 'BTC',
  amount: 1,
  status: 'done',
  account_balance: 2,
  symbol: 'BTCUSD',
  timestamp: 1_767_571_200_000,
  ...over,
});
const read = (rows: readonly unknown[]): ReturnType<typeof readMessage<unknown>> =>
  readMessage(transactionsSchema, readBody(JSON.stringify(rows)));

describe('a list of transactions', () => {
  it('is read if one row has an action that the specification does not name', () => {
    expect(read([row({}), row({ id: 2, action: 'Transfer' })])).toMatchObject({
      ok: true,
      value: [{ action: 'buy', pair: 'btcusd', currency: 'btc' }, { action: 'other' }],
    });
  });

  it('is refused if a row with an unknown action has a client id of this program', () => {
    const ours = clientId({ desk: 'main', parent: 'abcdefgh', slice: 0, attempt: 0 });
    expect(read([row({ action: 'Transfer', client_order_id: ours })])).toMatchObject({ ok: false });
  });
});
