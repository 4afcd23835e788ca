import { expect, it } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import { amountsApart, withSeparators } from '../../src/core/text/with-separators.ts';
import { wordsFor } from '../../src/app/cli/progress.ts';

const said = (body: RecordBody): string | undefined => wordsFor({ seq: 1, at: instant(0), body, hash: '' });

it('wordsFor describes the changes of a correction, even if only the fees change', () => {
  const size = { quantity: '0.35', was_quantity: '0.35', amount: '21025.04', was_amount: '21025.04' };
  const fees = { fees: '7.78', was_fees: '3.89' };
  const ids = { client_order_id: 'tr-a', order_id: '1', price: '60071.54', rows: [] };
  expect(said({ kind: 'correction', ...ids, ...size, ...fees })).toBe(
    '00:00:00  tr-a as the account shows it: 0.35 for 21025.04, fees 7.78; booked: 0.35 for 21025.04, fees 3.89',
  );
});

it.each<readonly [(amount: string) => string, string, string]>([
  [withSeparators, '1234567.891', '1,234,567.891'],
  [withSeparators, '-60071.54', '-60,071.54'],
  ...['999', '0.00001234', 'no limit'].map((text) => [withSeparators, text, text] as const),
  [
    amountsApart,
    'Opening balances: 250000 usd, 1000 btc and 12 eth since 2026-01-05, max_usd 250000, 1234abc.',
    'Opening balances: 250,000 usd, 1,000 btc and 12 eth since 2026-01-05, max_usd 250000, 1234abc.',
  ],
  [amountsApart, 'credit up to 250000 USD; 0.12345678 btc', 'credit up to 250,000 USD; 0.12345678 btc'],
])('thousands separators are added to amounts, not to other text: %o %s', (separate, text, shown) => {
  expect(separate(text)).toBe(shown);
});
