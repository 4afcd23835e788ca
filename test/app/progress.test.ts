import { expect, it } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { amountsApart, withSeparators } from '../../src/core/text/with-separators.ts';
import { wordsFor } from '../../src/app/cli/progress.ts';

const said = (body: RecordBody): string | undefined => wordsFor({ seq: 1, at: instant(0), body, hash: '' });

it('wordsFor describes the changes of a correction, even if only the fees change', () => {
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
    rows: [],
  });
  expect(line).toBe(
    '00:00:00  tr-a as the account shows it: 0.35 for 21025.04, fees 7.78; booked: 0.35 for 21025.04, fees 3.89',
  );
});

it('withSeparators adds thousands separators to amounts and leaves other text unchanged', () => {
  expect(['1234567.891', '-60071.54', '999', '0.00001234', 'no limit'].map(withSeparators)).toEqual([
    '1,234,567.891',
    '-60,071.54',
    '999',
    '0.00001234',
    'no limit',
  ]);
});

it('amountsApart adds thousands separators to amounts in a sentence, but not to times, settings and hashes', () => {
  expect(
    amountsApart(
      'Opening balances: 250000 usd, 1000 btc and 12 eth since 2026-01-05, max_usd 250000, 1234abc.',
    ),
  ).toBe('Opening balances: 250,000 usd, 1,000 btc and 12 eth since 2026-01-05, max_usd 250000, 1234abc.');
  expect(amountsApart('credit up to 250000 USD; 0.12345678 btc')).toBe(
    'credit up to 250,000 USD; 0.12345678 btc',
  );
});
