import type { PlanFacts } from '../../planning/plan.ts';
import { PROBE_SHARE } from '../../engine/market/reference-prices.ts';
import { MESSAGE_WAIT_MAX_MS } from '../../engine/stages/pace.ts';
import type { Config } from '../config/config.ts';
import { PACE_GUARD_MS } from '../config/desk-settings.ts';
import { statedRates } from '../config/rates.ts';

/** Returns the settings of the config for limits, pace, credit and cost, in the form that the checks of a plan need. */
export function planLimits(config: Config): Pick<PlanFacts, 'limits' | 'rates' | 'pacing' | 'pts'> {
  const { controls, pacing, venue } = config;
  const share = (max: number): number => Math.max(1, Math.floor(max * pacing.quoteShare));
  const quotes = share(pacing.quotesPerSecond);
  // Without a ticker, reference prices also use quotes, which are then not available to slices.
  const probes = venue.capabilities.ticker ? 0 : Math.ceil(quotes * PROBE_SHARE);
  return {
    rates: statedRates(config),
    limits: {
      currency: controls.orderNotionalMax.currency,
      orderNotionalMax: controls.orderNotionalMax.amount,
      dayNotionalMax: controls.dayNotionalMax.amount,
      pairDayNotionalMax: controls.pairDayNotionalMax,
      orderQuantityMax: controls.orderQuantityMax,
      collarBps: controls.collarBps,
      minuteExecutionsMax: controls.minuteExecutionsMax,
      parentExecutionsMax: controls.parentExecutionsMax,
      positionMin: controls.positionMin,
      keep: config.keep,
      positionMax: controls.positionMax,
      shortfallBpsMax: controls.shortfallBpsMax,
      dayCostMax: controls.dayCostMax?.amount,
      closedHours: controls.closedHours,
    },
    pacing: {
      quotesPerSecond: Math.max(1, quotes - probes),
      ordersPerSecond: share(pacing.ordersPerSecond),
      waitMaxMs: MESSAGE_WAIT_MAX_MS,
      guardMs: PACE_GUARD_MS,
    },
    pts: { use: config.pts.use, creditMax: config.pts.creditMax },
  };
}
