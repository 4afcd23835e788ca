import { settingsOf } from '../backtest/model.ts';
import type { Backtest } from '../backtest/run.ts';
import type { Alert } from '../core/alerts.ts';
import { add, NO_QUANTITY, text } from '../core/money.ts';
import type { Quantity } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import type { Journal } from '../journal/journal.ts';
import { figuresOf } from '../report/figures.ts';
import type { Figures, ReportInput } from '../report/figures.ts';
import type { BacktestFacts, Report } from '../report/schema.ts';
import type { BacktestInput } from './backtest-input.ts';
import type { NamedModel } from './model-file.ts';
import { reportLines } from './report-words.ts';
import { version } from './version.ts';

/** What an operator would have been told, and how often. */
export type Alerts = Map<Alert, number>;

export interface Ended {
  readonly input: BacktestInput;
  readonly named: NamedModel;
  readonly running: Backtest;
  readonly journal: Journal;
  readonly alerts: Alerts;
  readonly seed: string;
}

/** The figures of a backtest that has ended: those of its journal over its tapes, and how it was made. */
export function backtestFigures(ended: Ended): Figures {
  const { input, journal, running } = ended;
  return figuresOf(journal.read(), {
    version,
    prices: input.tapes.map(({ tape }) => tape),
    assumptions: assumptionsOf(ended.named),
    carry: carryOf(running),
    backtest: factsOf(ended),
    currencies: (pair) => {
      const known = running.desk.pair(pair);
      return 'problem' in known ? undefined : known;
    },
  });
}

function factsOf({ input, named, running, alerts, seed }: Ended): BacktestFacts {
  const { exchange, clock, desk } = running;
  const account = exchange.accounts[0]?.name ?? '';
  const balances = exchange.balances(account);
  return {
    from: isoOf(input.from),
    until: isoOf(input.until),
    seed,
    model: named.name,
    settings: settingsOf(named.model),
    files: Object.fromEntries(input.tapes.map(({ tape, file }) => [tape.pair, file])),
    holdings: balances.ok
      ? Object.fromEntries(balances.value.map(({ currency, balance }) => [currency, text(balance)]))
      : {},
    value_usd: text(exchange.valueOf(account, clock.wall())),
    open_doubts: desk.state.doubts.length,
    control: desk.control,
    alerts: Object.fromEntries(alerts),
  };
}

/** What a reader must know before believing a figure of a backtest. */
function assumptionsOf({ name, model }: NamedModel): readonly string[] {
  const plain = Object.entries(settingsOf(model)).filter(([, value]) => typeof value !== 'object');
  const credit = model.pts.enabled
    ? `credit mode ${model.pts.defaultMode} unless a pair says otherwise`
    : 'no credit';
  return [
    'The venue of a backtest is a model: history tells what was traded, not what would have been quoted for these sizes.',
    `Model ${name}: ${plain.map(([key, value]) => `${key} ${String(value)}`).join(', ')}; ${credit}.`,
    ...Object.entries(model.pairs).map(
      ([pair, own]) =>
        `Of ${pair}: ${Object.entries(settingsOf(own))
          .map(([key, value]) => `${key} ${String(value)}`)
          .join(', ')}.`,
    ),
    'The close of a bar is known when the bar has ended; highs and lows are never traded at.',
    'Own trades do not move the prices of the tape.',
  ];
}

/** Interest that was charged on credit, by currency. */
function carryOf({ exchange, clock }: Backtest): ReportInput['carry'] {
  const paid = exchange.interest(exchange.accounts[0]?.name ?? '', clock.wall());
  const sums = new Map<string, Quantity>();
  for (const { currency, amount } of paid.ok ? paid.value : [])
    sums.set(currency, add(sums.get(currency) ?? NO_QUANTITY, amount));
  return [...sums].map(([currency, amount]) => ({ currency, amount }));
}

/** A report of a backtest for people: its end, what it costs, and what it rests on. */
export function backtestLines(report: Report): readonly string[] {
  const { backtest, made_from: source } = report;
  if (backtest === undefined) return reportLines(report);
  const { holdings, value_usd: value, control, alerts, open_doubts: doubts } = backtest;
  const held = Object.entries(holdings).map(([currency, amount]) => `${amount} ${currency}`);
  return [
    `Backtest from ${backtest.from} to ${backtest.until}, model ${backtest.model}, seed ${backtest.seed}`,
    ...reportLines(report),
    '',
    ...report.assumptions.map((line) => `Assumed: ${line}`),
    '',
    `Held at the end: ${held.join(', ')}, worth ${value} usd`,
    ...Object.entries(alerts).map(([alert, count]) => `Alert ${alert}: ${count} times`),
    ...(control === 'active' ? [] : [`The desk ended ${control}.`]),
    ...(doubts === 0 ? [] : [`${doubts} outcomes were unknown at the end.`]),
    `Journal: ${source.records} records, head ${source.head ?? ''}`,
  ];
}
