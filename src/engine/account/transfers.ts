import { add } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import { HOUR_MS } from '../../core/time.ts';
import type { Transaction } from '../../core/venue.ts';
import type { Desk } from '../desk.ts';

/** The venue publishes a valuation every hour. A valuation older than two hours is not used. */
const KEPT_MS = 3 * HOUR_MS;
/** The oldest are dropped first. */
const TRANSFERS_MAX = 1_000;

/** Remembers the deposits and withdrawals that a read of the account showed. */
export function noteTransfers({ account, ports }: Desk, rows: readonly Transaction[]): void {
  const { transfers } = account;
  const oldest = ports.clock.wall() - KEPT_MS;
  for (const [id, { at }] of transfers) if (at < oldest) transfers.delete(id);
  for (const { id, at, action, currency, amount, status } of rows) {
    if ((action !== 'deposit' && action !== 'withdraw') || status.toLowerCase() !== 'done') continue;
    if (at >= oldest) transfers.set(id, { at, currency, amount });
  }
  while (transfers.size > TRANSFERS_MAX) transfers.delete(transfers.keys().next().value ?? '');
}

/** The venue's newest hourly valuation, adjusted for transfers since then, USD. */
export function currentValuation(desk: Desk): Money | undefined {
  const { valuation, transfers } = desk.account;
  if (valuation === undefined) return undefined;
  let { usd } = valuation;
  for (const { at, currency, amount } of transfers.values()) {
    const worth = at > valuation.at ? desk.rates.convert(currency, amount, 'usd') : undefined;
    if (worth !== undefined) usd = add(usd, worth);
  }
  return usd;
}
