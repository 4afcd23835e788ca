import { money, text } from '../core/money.ts';
import { parseDuration, parseTime, SECOND_MS } from '../core/time.ts';
import { atMostOneOf } from './checks.ts';
import type { CheckWorld, Problem } from './kernel.ts';
import { pairOf } from './sweep-fields.ts';
import type { Params } from './sweep-fields.ts';

/** What is wrong across the fields of a sweep document. */
export function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const { from, to } = plan;
  if (from === to) return [{ path: ['to'], message: `from and to are both ${from}: name two currencies` }];
  const pair = pairOf(plan);
  const known = world.currencies(pair);
  const names =
    (pair === from + to || pair === to + from) &&
    (known === undefined || [known.base, known.quote].every((one) => one === from || one === to));
  if (!names)
    return [
      {
        path: ['pair'],
        message: `${pair} is not a pair of ${from} and ${to}: write ${from}${to} or ${to}${from}`,
      },
    ];
  const quote = pair === from + to ? to : from;
  return [...checkCurrencies(plan, quote), ...checkTimes(plan), ...checkMinimum(plan, world)];
}

function checkCurrencies(plan: Params, quote: string): readonly Problem[] {
  const cases = [
    ['keep', plan.from],
    ['min_trade_notional', quote],
    ['max_slice_notional', quote],
  ] as const;
  return cases.flatMap(([field, expected]) => {
    const given = plan[field]?.currency;
    if (given === undefined || given === expected) return [];
    return [{ path: [field, 'currency'], message: `${field} is counted in ${expected} here, not ${given}` }];
  });
}

function checkTimes(plan: Params): readonly Problem[] {
  const problems = [...atMostOneOf(plan, 'schedule', 'collect')];
  const { start_time: start, end_time: end } = plan;
  if (start !== undefined && end !== undefined && parseTime(end) <= parseTime(start))
    problems.push({ path: ['end_time'], message: 'end_time must be later than start_time' });
  if (parseDuration(plan.interval) < SECOND_MS)
    problems.push({ path: ['interval'], message: 'the interval is at least a second: PT1S' });
  return problems;
}

/** Two equal pieces are more than half of the largest each: that must be enough for the venue. */
function checkMinimum(plan: Params, world: CheckWorld): readonly Problem[] {
  const { notional } = world.minimum(pairOf(plan));
  if (plan.max_slice_notional === undefined || notional === undefined) return [];
  if (money(plan.max_slice_notional.amount).gte(notional.times(2))) return [];
  const message = `pieces could be below the venue's minimum of ${text(notional)}: write at least twice as much`;
  return [{ path: ['max_slice_notional', 'amount'], message }];
}
