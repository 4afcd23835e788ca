import { approximate, money } from '../core/money.ts';
import type { StoredRecord } from '../core/record.ts';
import { SECOND_MS } from '../core/time.ts';
import { untradedBy } from '../core/cycle/untraded.ts';
import type { OpenAttempt } from './doubt-metrics.ts';
import type { Meters } from './meters.ts';

/** Bounds the label values that come from outside. */
export interface Labels {
  readonly pair: (value: string) => string;
  readonly currency: (value: string) => string;
  readonly strategy: (value: string) => string;
  readonly route: (value: string) => string;
}

/** Maximum number of values of one label, because a long config or odd text from a venue must not fill Prometheus's memory. */
const LABEL_VALUES_MAX = 256;

export const boundedLabels = (): Labels => ({
  pair: boundedLabel(),
  currency: boundedLabel(),
  strategy: boundedLabel(),
  route: boundedLabel(),
});

/** Passes the first values unchanged; once there are `LABEL_VALUES_MAX`, every new one becomes `other`. */
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
 * Counts a record that this process wrote. `about` is the record's attempt in its previous state. It is unknown only if
 * its intent is in a part of the journal that the metrics never read.
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
      // A discarded attempt sent no order. A proof about an order that was already counted adds nothing.
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
    default:
  }
}
