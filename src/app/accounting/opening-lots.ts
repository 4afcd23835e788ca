import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';
import { isAmountText, money, quantity } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { parseIso } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';

export interface OpeningLot {
  readonly currency: string;
  readonly id: string;
  readonly acquiredAt: Instant;
  readonly quantity: Quantity;
  /** In the currency of the books. */
  readonly cost: Money;
  /** Time at which the lot was found, after the books had started. */
  readonly bookedAt?: Instant | undefined;
}

const amount = z.string().refine(isAmountText, 'expected an amount as text, such as "0.25"');
const lotSchema = z.strictObject({
  currency: z.string().regex(/^[a-z0-9]{2,12}$/u, 'expected a currency such as btc'),
  lot: z.string().min(1).max(200),
  acquired_at: z
    .string()
    .refine((text) => parseIso(text) !== undefined, 'expected a time such as 2026-01-31T12:00:00Z'),
  quantity: amount,
  cost: amount,
});

/**
 * Reads the lots of other books from a file: one JSON object per line, as `tranche accounting lots --json` prints them.
 *
 * @throws OperatorError `storage`, or `data` with the line at fault.
 */
export function readOpeningLots(file: string): readonly OpeningLot[] {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new OperatorError('storage', `the opening lots ${file} cannot be read`, cause);
  }
  return content
    .split('\n')
    .map((line, n) => ({ line, place: `${file}:${n + 1}` }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, place }) => lotOf(line, place));
}

function lotOf(line: string, place: string): OpeningLot {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new OperatorError(
      'data',
      `${place}: expected a JSON object, as tranche accounting lots --json prints it`,
      cause,
    );
  }
  const read = lotSchema.safeParse(value);
  if (!read.success) {
    const [{ path, message } = { path: [], message: '' }] = read.error.issues;
    throw new OperatorError('data', `${place}: ${path.join('.') || 'the lot'}: ${message}`);
  }
  const { currency, lot, acquired_at: acquired, quantity: units, cost } = read.data;
  const acquiredAt = parseIso(acquired);
  if (acquiredAt === undefined || quantity(units).isZero())
    throw new OperatorError('data', `${place}: quantity: expected an amount other than 0`);
  return { currency, id: lot, acquiredAt, quantity: quantity(units), cost: money(cost) };
}
