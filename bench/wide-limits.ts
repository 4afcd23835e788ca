/** Limits of a live desk that buys bitcoin as fast as it can: they never restrict a benchmark. Added to the config of the desk. */
export const wideLimits = {
  controls: {
    max_order_notional: { amount: '1000000', currency: 'usd' },
    max_day_notional: { amount: '10000000000', currency: 'usd' },
    max_order_quantity: { btcusd: '1000' },
    collar_bps: 1000,
    max_drift_bps: 10000,
    max_shortfall_bps: 10000,
    max_executions_per_minute: 10000,
    max_executions_per_parent: 10000,
    pairs: ['btcusd'],
    sides: ['buy'],
  },
  pacing: { quotes_per_second: 500, orders_per_second: 60 },
} as const;
