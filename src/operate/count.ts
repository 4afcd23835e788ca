import { approximate, money } from '../core/money.ts';
import type { StoredRecord } from '../core/record.ts';
import { SECOND_MS } from '../core/time.ts';
import { untradedBy } from '../core/cycle/untraded.ts';
import type { OpenAttempt } from './doubt-metrics.ts';
import type { Meters } from './meters.ts';

/** Values of labels that come from outside, each kept within a bound. */
export interface Labels {
  readonly pair: (value: string) => string;
  readonly currency: (value: string) => string;
  readonly strategy: (value: string) => string;
  readonly route: (value: string) => string;
}

/** Most values that one label may take: a long config or odd text of a venue must not fill the memory of Prometheus. */
const LABEL_VALUES_MAX = 256;

export const boundedLabels = (): Labels => ({
  pair: boundedLabel(),
  currency: boundedLabel(),
  strategy: boundedLabel(),
  route: boundedLabel(),
});

/** Lets the first values through as they are; from `LABEL_VALUES_MAX` on, every new one becomes `other`. */
function boundedLabel(): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= LABEL_VALUES_MAX) return 'other';
    known.add(value);
    return value;
  };
}

/**
 * Counts a record that this process wrote. `about` is the attempt that the record belongs to, as it was before; it is
 * unknown only when the intent lies in a part of the journal that was never shown to the metrics.
 */
export function countRecord(
  meters: Meters,
  labels: Labels,
  { at, body }: StoredRecord,
  about: OpenAttempt | undefined,
): void {
  meters.journalRecords.inc({ kind: body.kind });
  const pair = labels.pair(('pair' in body ? body.pair : about?.pair) ?? 'unknown');

  const untraded = untradedBy(body);
  if (untraded !== undefined) {
    const { strategy, reason, slices } = untraded;
    meters.untraded.inc({ strategy: labels.strategy(strategy), reason }, Math.max(1, slices));
  }
  switch (body.kind) {
    case 'wake':
      meters.wakes.inc({ strategy: labels.strategy(body.strategy), on: body.on, reason: body.reason ?? '' });
      return;
    case 'quote':
      meters.quoteAge.observe({ pair }, Math.max(0, body.age_ms) / SECOND_MS);
      return;
    case 'attempt':
      meters.attempts.inc({ pair, result: body.result, reason: body.reason ?? '' });
      if (about !== undefined)
        meters.cycle.observe({ result: body.result }, Math.max(0, at - about.at) / SECOND_MS);
      // A discarded attempt sent no order; what only becomes more certain was counted when it was sent.
      if (body.result !== 'discarded' && body.reason !== 'certainly_traded')
        meters.orders.inc({ pair, side: about?.side ?? 'unknown', result: body.result });
      return;
    case 'fill':
      meters.fills.inc({ pair, side: body.side });
      meters.notional.inc(
        { pair, side: body.side, currency: labels.currency(body.quote) },
        approximate(money(body.amount)),
      );
      return;
    case 'slice':
      meters.slices.inc({
        strategy: labels.strategy(body.strategy),
        result: body.result,
        reason: body.reason ?? '',
      });
      return;
    case 'started':
    case 'stopped':
    case 'strategy':
    case 'intent':
    case 'balances':
    case 'maximum':
    case 'resolved':
    case 'override':
    case 'reload':
    case 'correction':
    case 'shown':
    case 'process':
    case 'alert':
    case 'person':
    case 'control':
  }
}
