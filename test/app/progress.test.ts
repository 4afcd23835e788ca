import { expect, it } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { apart } from '../../src/app/cli/amounts.ts';
import { wordsFor } from '../../src/app/cli/progress.ts';

const said = (body: RecordBody): string | undefined => wordsFor({ seq: 1, at: instant(0), body, hash: '' });

it('says of a correction what is other, also where that is the fees alone', () => {
  const line = said({
    kind: 'correction',
    client_order_id: 'tr-a',
    order_id: '1',
    quantity: '0.35',
    price: '60071.54',
    amount: '21025.04',
    fees: '7.78',
    was_quantity: '0.35',
    was_amount: '21025.04',
    was_fees: '3.89',
  });
  expect(line).toBe(
    '00:00:00  tr-a in the account: 0.35 for 21025.04, fees 7.78; booked were 0.35 for 21025.04, fees 3.89',
  );
});

it('writes amounts with their thousands apart, and what is no amount as it is', () => {
  expect(['1234567.891', '-60071.54', '999', '0.00001234', 'no limit'].map(apart)).toEqual([
    '1,234,567.891',
    '-60,071.54',
    '999',
    '0.00001234',
    'no limit',
  ]);
});
