import type { TwinReport } from '../../../src/research/twin/twin-json.ts';

/** A report of twelve slices whose entire difference comes from the quotes. */
export function aReport(verdict: TwinReport['verdict']): TwinReport {
  const side = { decision: 'filled', quantity: '1', amount: '1', fees: '0', cost_bps: '2.0000', attempts: 1, refusals: 0, doubts: 0, executed_at: undefined, delay_ms: undefined }; // prettier-ignore
  const sums = { filled: 12, expired: 0, attempts: 12, refusals: 0, doubts: 0, median_delay_ms: 400 };
  const bps = { within: '-1.5000', beyond: '-8.0000', empty: undefined }[verdict];
  return {
    version: 1, journal: 'sqlite:j.db', head: 'ab', modes: ['live'], from: '2026-12-01T00:00:00.000Z', until: '2026-12-02T00:00:00.000Z',
    model: 'tight', verdict, bound_bps: '5', traded_usd: '1000', difference_usd: '-0.8', difference_bps: bps,
    causes: [
      { cause: 'text', says: 'texts', usd: '0', bps: '0.0000' },
      { cause: 'quote', says: 'the venue quoted other prices, or did not quote', usd: '-0.8', bps },
    ],
    cost_bps: undefined, live: sums, twin: sums, decisions: [{ live: 'filled', twin: 'filled', slices: 12 }], modelled: 0, notes: [],
    slices: Array.from({ length: 12 }, (_, slice) => ({
      strategy: 'buy', parent: 'p', slice, pair: 'btcusd', side: 'buy', decided_at: '2026-12-01T09:00:00.000Z', live: side, twin: side,
      difference_usd: `-${slice}`, causes: { quote: `-${slice}` }, modelled: false, records: [1],
    })),
  }; // prettier-ignore
}
