import { lastKnownAt, liquidationOf } from '../../research/run/delisting.ts';
import { gapMaxOf } from '../../research/run/model.ts';
import type { ExecutionModel } from '../../research/run/model.ts';
import { OperatorError, invariant } from '../../core/errors.ts';
import { text } from '../../core/money.ts';
import { sidesOf } from '../../core/pairs.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import { contentHash } from '../config/config.ts';
import { simulatedCurrencies } from '../config/rates.ts';
import { reviveStrategy } from '../strategies/strategies.ts';
import type { BacktestInput } from './backtest-input.ts';

type Input = Pick<BacktestInput, 'config' | 'holdings' | 'strategies' | 'tapes' | 'window'>;

/**
 * Returns one strategy for each delisted asset to sell. A currency in which other pairs are quoted is money, and is not sold.
 *
 * @throws OperatorError `config` if a strategy of the config has the id of one of them.
 */
export function liquidationsOf(input: Input, model: ExecutionModel): readonly StrategySource[] {
  const { config, holdings, strategies, tapes, window } = input;
  const listed = [...Object.keys(simulatedCurrencies(config) ?? {}), ...holdings.keys()];
  const quotes = new Set(tapes.map(({ tape }) => sidesOf(tape.pair, listed).quote));
  const { amount, currency } = config.controls.orderNotionalMax;
  return window.delisted.flatMap(({ pair, does }) => {
    const tape = tapes.find((one) => one.tape.pair === pair)?.tape;
    const { base, quote } = sidesOf(pair, listed);
    if (
      does !== 'liquidate' ||
      tape === undefined ||
      base === undefined ||
      quote === undefined ||
      quotes.has(base)
    )
      return [];
    const orderMax = currency === quote ? text(amount) : undefined;
    const sale = liquidationOf({
      pair,
      base,
      quote,
      at: lastKnownAt(tape),
      forMs: gapMaxOf(model, tape),
      orderMax,
    });
    if (strategies.some(({ id }) => id === sale.strategy))
      throw new OperatorError('config', `a strategy has the id ${sale.strategy}, which the backtest uses for the sale of a delisted asset: rename the strategy`); // prettier-ignore
    const source = reviveStrategy({ ...sale, hash: contentHash(sale.document) });
    invariant(source !== undefined, `the sale of ${pair} is a valid strategy`);
    return [source];
  });
}
