import { OperatorError } from '../../core/errors.ts';
import { isAmountText, quantity } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';

/** Reads holdings such as `usd=250000,btc=1.5`. @throws OperatorError `usage`. */
export function readHoldings(text: string): ReadonlyMap<string, Quantity> {
  const held = new Map<string, Quantity>();
  for (const part of text.split(',')) {
    const groups = /^(?<currency>[a-z0-9]{2,12})=(?<amount>.+)$/u.exec(part.trim())?.groups;
    const currency = groups?.['currency'] ?? '';
    const amount = groups?.['amount'] ?? '';
    if (groups === undefined || !isAmountText(amount) || /e/iu.test(amount) || held.has(currency))
      throw new OperatorError(
        'usage',
        `--holdings: expected each currency once with its amount, such as usd=250000,btc=1.5, got "${part}"`,
      );
    held.set(currency, quantity(amount));
  }
  return held;
}
