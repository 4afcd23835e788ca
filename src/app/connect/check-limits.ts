import { text } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import type { Config } from '../config/config.ts';
import { faultWords, standingFaults } from '../strategies/feasibility.ts';
import type { LoadedStrategy } from '../strategies/strategies.ts';
import { checkOf } from './finding.ts';
import type { Finding } from './finding.ts';

/**
 * Checks the limits against the strategies, as `validate` and `plan` do. Loading the config already refuses live mode
 * if a limit is missing.
 */
export function checkLimits(
  config: Config,
  strategies: readonly LoadedStrategy[],
  now: Instant,
): readonly Finding[] {
  const { orderNotionalMax, dayNotionalMax } = config.controls;
  const faults = standingFaults({ config, strategies, now });
  if (faults.length > 0)
    return faults.map((fault) =>
      checkOf('limits', strategies.find(({ id }) => id === fault.strategy)?.file ?? config.file).fail(
        `${fault.strategy ?? 'the strategies together'}: ${faultWords(fault)}`,
      ),
    );
  const count = strategies.filter(({ enabled }) => enabled).length;
  const figures = [orderNotionalMax, dayNotionalMax].map(
    ({ amount, currency }) => `${text(amount)} ${currency}`,
  );
  return [
    checkOf('limits', config.limitsAt).ok(
      `at most ${figures[0]} an order and ${figures[1]} per day, which lets ${count === 1 ? 'the strategy' : `all ${count} strategies`} trade`,
    ),
  ];
}
