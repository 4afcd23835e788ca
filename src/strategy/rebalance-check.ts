import { add, ONE, ratio, size, subtract, text } from '../core/money.ts';
import { tradedPair } from '../core/portfolio.ts';
import { parseTime } from '../core/time.ts';
import type { CheckWorld, Problem } from './kernel.ts';
import { assetsOf, basisOf } from './rebalance-fields.ts';
import type { Params } from './rebalance-fields.ts';

/** What is wrong across the fields of a rebalance document. */
export function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems: Problem[] = [];
  const sum = Object.values(plan.target_weights).reduce(
    (total, weight) => add(total, ratio(weight)),
    ratio('0'),
  );
  if (!sum.eq(ONE)) {
    const away = subtract(ONE, sum);
    const fix = away.gt(0) ? `add ${text(away)}` : `take ${text(size(away))} away`;
    problems.push({ path: ['target_weights'], message: `the weights sum to ${text(sum)}, not 1: ${fix}` });
  }
  if (assetsOf(plan).length === 0) {
    problems.push({ path: ['target_weights'], message: `name at least one currency besides ${plan.cash}` });
  }
  if ((plan.schedule === undefined) === (plan.continuous !== true)) {
    const both = plan.schedule !== undefined;
    problems.push({
      path: both ? ['continuous'] : [],
      message: both
        ? 'give either schedule or continuous: true, not both'
        : 'give schedule, or continuous: true',
    });
  }
  if (plan.min_trade_notional.currency !== plan.cash) {
    problems.push({
      path: ['min_trade_notional', 'currency'],
      message: `min_trade_notional is counted in the cash currency: write ${plan.cash}`,
    });
  }
  if (plan.cash_buffer !== undefined && plan.cash_buffer.currency !== plan.cash) {
    problems.push({
      path: ['cash_buffer', 'currency'],
      message: `cash_buffer is counted in the cash currency: write ${plan.cash}`,
    });
  }
  if (plan.hours !== undefined && plan.schedule !== undefined) {
    problems.push({ path: ['hours'], message: 'hours are for continuous: write them within schedule' });
  }
  if (plan.end_time !== undefined && plan.duration !== undefined) {
    problems.push({ path: ['duration'], message: 'give either end_time or duration, not both: remove one' });
  }
  if (plan.start_time !== undefined && plan.end_time !== undefined) {
    if (parseTime(plan.end_time) <= parseTime(plan.start_time))
      problems.push({ path: ['end_time'], message: 'end_time must be later than start_time' });
  }
  return [...problems, ...checkVia(plan), ...checkPairs(plan, world)];
}

function checkPairs(plan: Params, world: CheckWorld): readonly Problem[] {
  return assetsOf(plan).flatMap((asset) => {
    const known = world.currencies(tradedPair(asset, basisOf(plan)));
    if (known === undefined || known.base === asset) return [];
    const message = `there is no pair ${asset}/${plan.via[asset] ?? plan.cash}`;
    return [{ path: ['target_weights', asset], message }];
  });
}

/** A bridge is crossed once: from the currency to one that has a pair against cash. */
function checkVia(plan: Params): readonly Problem[] {
  const assets = assetsOf(plan);
  return Object.entries(plan.via).flatMap(([asset, bridge]) => {
    const path = ['via', asset];
    if (!assets.includes(asset))
      return [{ path, message: `${asset} is not among target_weights: remove it here, or give it a weight` }];
    if (bridge === plan.cash)
      return [{ path, message: `${asset} has a pair against ${bridge} then: remove it from via` }];
    if (bridge === asset || !assets.includes(bridge))
      return [
        { path, message: `write a currency among target_weights besides ${asset}; a weight of "0" will do` },
      ];
    if (plan.via[bridge] !== undefined)
      return [{ path, message: `${bridge} has no pair against ${plan.cash} itself: write one that has` }];
    return [];
  });
}
