import type { PlanFacts } from '../../planning/plan.ts';
import type { Config } from '../config/config.ts';
import { statedRates } from '../config/rates.ts';

/** Returns the settings of the config for limits, pace, credit and cost, in the form that the checks of a plan need. */
export function planLimits(
  config: Config,
): Pick<PlanFacts, 'limits' | 'rates' | 'pacing' | 'pts' | 'costModel'> {
  const { controls, pacing, reference, venue, costModel } = config;
  const share = (max: number): number => Math.max(1, Math.floor(max * pacing.quoteShare));
  const quotes = share(pacing.quotesPerSecond);
  // Without a ticker, reference prices also use quotes, which are then not available to slices.
  const probes = venue.capabilities.ticker ? 0 : Math.ceil(quotes * reference.share);
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
      waitMaxMs: pacing.waitMaxMs,
      guardMs: pacing.guardMs,
    },
    pts: { use: config.pts.use, creditMax: config.pts.creditMax },
    costModel(pair) {
      const own = costModel.pairs.get(pair);
      return {
        halfSpreadBps: own?.halfSpreadBps ?? costModel.halfSpreadBps,
        impactBps: own?.impactBps ?? costModel.impactBps,
      };
    },
  };
}
