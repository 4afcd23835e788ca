import { settingsOf } from '../../research/run/model.ts';
import { decimalText } from '../../research/tape/tape.ts';
import type { Backtest } from '../../research/run/run.ts';
import type { Alert } from '../../core/alerts.ts';
import { NO_QUANTITY, text } from '../../core/money.ts';
import { countOf } from '../../core/text/count-of.ts';
import { amountsApart, withSeparators } from '../../core/text/with-separators.ts';
import { durationText, instant, isoOf } from '../../core/time.ts';
import type { Journal } from '../../journal/journal.ts';
import { figuresOf } from '../../report/figures/figures.ts';
import type { Figures, ReportInput } from '../../report/figures/figures.ts';
import type { BacktestFacts, Report } from '../../report/json/schema.ts';
import type { BacktestInput } from './backtest-input.ts';
import type { NamedModel } from '../config/model-file.ts';
import { reportLines } from './report-text.ts';
import { version } from '../version.ts';

/** Number of alerts that the desk raised, by alert. */
export type Alerts = Map<Alert, number>;

export interface Ended {
  readonly input: BacktestInput;
  readonly named: NamedModel;
  readonly running: Backtest;
  readonly journal: Journal;
  readonly alerts: Alerts;
  readonly seed: string;
  /** Arguments that determine what it trades, quoted for a shell. */
  readonly arguments?: string | undefined;
}

/** Returns the figures of a finished backtest: those of its journal over its tapes, and its origin. */
export function backtestFigures(ended: Ended): Figures {
  const { input, journal, running } = ended;
  const facts = factsOf(ended);
  return figuresOf(journal.read(), {
    version,
    end: input.until,
    prices: input.tapes.map(({ tape }) => tape),
    told: toldOf(input, facts),
    assumptions: assumptionsOf(ended.named, input),
    charges: chargesOf(running),
    backtest: facts,
    currencies: (pair) => {
      const known = running.desk.instruments.pair(pair);
      return 'problem' in known ? undefined : known;
    },
  });
}

function factsOf({ input, named, running, alerts, seed, arguments: given }: Ended): BacktestFacts {
  const { exchange, desk } = running;
  const account = exchange.accounts[0]?.name ?? '';
  const balances = exchange.balances(account);
  return {
    from: isoOf(input.from),
    until: isoOf(input.until),
    seed,
    ...(given === undefined ? {} : { arguments: given }),
    model: named.name,
    settings: settingsOf(named.model),
    ...(input.window.shortened.length === 0 ? {} : { shortened: [...input.window.shortened] }),
    ...(input.window.delisted.length === 0 ? {} : { delisted: delistedFacts(input, running) }),
    files: Object.fromEntries(input.tapes.map(({ tape, file }) => [tape.pair, file])),
    holdings: balances.ok
      ? Object.fromEntries(balances.value.map(({ currency, balance }) => [currency, text(balance)]))
      : {},
    value_usd: text(running.valueAt(input.until)),
    open_doubts: desk.state.doubts.length,
    control: desk.control,
    alerts: Object.fromEntries(alerts),
  };
}

/** Returns what a reader must know about the window before reading the figures. */
function toldOf({ window }: BacktestInput, { delisted = [] }: BacktestFacts): readonly string[] {
  const left = delisted.filter(({ does, held }) => does === 'liquidate' && held !== '0');
  return [
    ...window.notes.map((note) => `${note.charAt(0).toUpperCase()}${note.slice(1)}.`),
    ...left.map(({ currency, held, price }) => `${held} ${currency} could not be sold before the quotes ended, and are valued at the last price, ${price}.`), // prettier-ignore
  ];
}

/** Returns the results of assets whose prices end before the window. */
function delistedFacts(
  { window, tapes }: BacktestInput,
  { exchange, desk }: Backtest,
): NonNullable<BacktestFacts['delisted']> {
  return window.delisted.map(({ pair, at, does }) => {
    const { base } = desk.instruments.of(pair);
    const held = exchange.ledger.balances(exchange.accounts[0]?.name ?? '').get(base) ?? NO_QUANTITY;
    const tape = tapes.find((one) => one.tape.pair === pair)?.tape;
    return {
      pair,
      currency: base,
      at: isoOf(at),
      does,
      price: tape === undefined ? '' : decimalText(tape.close[tape.rows - 1] ?? 0),
      held: text(held),
    };
  });
}

/** Returns the assumptions of a backtest: the whole model, including what it does not cover. */
function assumptionsOf({ name, model }: NamedModel, { holdings }: BacktestInput): readonly string[] {
  const unset = {
    last_look_bps: 'never',
    price_precision: 'at least six significant digits of each price',
    impact_participation: 'none',
    gap_max: 'PT1H, or one bar if bars are longer',
  };
  const plain = settingsOf({ ...model, pts: undefined, pairs: undefined });
  const held = [...holdings].map(([currency, amount]) => `${text(amount)} ${currency}`);
  return [
    'The venue of a backtest is a model: history shows trades, not the quotes for these sizes.',
    `Model ${name}: ${worded({ ...unset, ...plain })}.`,
    ...Object.entries(model.pairs).map(([pair, own]) => `Of ${pair}: ${worded(settingsOf(own))}.`),
    creditOf(model.pts),
    `Opening balances: ${held.length === 0 ? 'none' : held.join(', ')}.`,
    'The close of a bar is known only when the bar has ended; highs and lows are not used.',
    'The trades of the backtest do not move the prices of the tape.',
    impactNote(model),
  ];
}

/** Returns what the impact's memory means for the choice of the number of slices. */
const impactNote = ({ impactMemory: memory }: NamedModel['model']): string =>
  memory === 'none'
    ? 'impact_memory none: the impact of a trade decays immediately, so total impact falls with the square root of the number of slices. Do not choose the number of slices on this basis; set a half-life such as impact_memory=PT1H.'
    : `impact_memory ${durationText(memory)}: each trade also pays the impact of earlier trades on the same side, which halves in this time. Slices close together cost as much as one order; more than one slice per half-life saves almost nothing.`;

const worded = (settings: Readonly<Record<string, unknown>>): string =>
  Object.entries(settings)
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(', ');

function creditOf(pts: NamedModel['model']['pts']): string {
  if (!pts.enabled) return 'The venue gives no credit.';
  const modes = Object.entries(pts.modes).map(([pair, mode]) => `${mode} for ${pair}`);
  const rate = (rates: object): string => worded(settingsOf(rates));
  const rates = Object.entries(pts.rates).map(([currency, own]) => `${currency}: ${rate(own)}`);
  return `The venue gives credit up to ${pts.creditLimitUsd} USD, mode ${[pts.defaultMode, ...modes].join(', ')}; interest: ${[rate(pts.defaultRate), ...rates].join('; ')}.`;
}

/** Returns the interest that the venue charged on credit, oldest first. */
function chargesOf({ exchange }: Backtest): ReportInput['charges'] {
  const charged = exchange.interest(exchange.accounts[0]?.name ?? '', exchange.at);
  return charged.ok ? charged.value.toReversed() : [];
}

/** Returns the report of a backtest as text: its costs, its assumptions and its end. */
export function backtestLines(report: Report): readonly string[] {
  const { backtest, made_from: source } = report;
  if (backtest === undefined) return reportLines(report);
  const { holdings, value_usd: value, control, alerts, open_doubts: doubts } = backtest;
  const held = Object.entries(holdings).map(([currency, amount]) => `${withSeparators(amount)} ${currency}`);
  return [
    `Backtest from ${backtest.from} to ${backtest.until}, model ${backtest.model}, seed ${backtest.seed}`,
    ...reportLines(report),
    '',
    ...report.assumptions.map((line) => `Assumed: ${amountsApart(line)}`),
    '',
    `Balances at the end: ${held.join(', ')}; value ${withSeparators(value)} usd`,
    ...Object.entries(alerts).map(([alert, count]) => `Alert ${alert}: ${countOf(count, 'time')}`),
    ...(control === 'active' ? [] : [`The desk ended ${control}.`]),
    ...(doubts === 0 ? [] : [`${countOf(doubts, 'order')} had an unknown outcome at the end.`]),
    `Journal: ${countOf(source.records, 'record')}, head ${source.head ?? ''}`,
  ];
}

/** Returns a line for each strategy that could not trade because its times are before or after the window. */
export function idleLines(
  { desk }: Backtest,
  { from, until }: Pick<BacktestInput, 'from' | 'until'>,
): readonly string[] {
  const lines: string[] = [];
  for (const [id, { bound }] of desk.strategies.sources) {
    const life = desk.state.lives.get(id);
    if (life === undefined) continue;
    const slots = bound.slots(life.begunAt, undefined);
    const last = slots.at(-1);
    const waits = life.waits.map((wait) => (wait.on === 'at' ? wait.at : Number.NEGATIVE_INFINITY));
    const next = instant(Math.min(...waits));
    if (last !== undefined && last.at < from)
      lines.push(
        `${id} could not trade: its last slice was due at ${isoOf(last.at)}, and the window starts at ${isoOf(from)}`,
      );
    else if (life.slicesDone === 0 && waits.length > 0 && next >= until)
      lines.push(
        `${id} could not trade: it waits for ${isoOf(next)}, and the window ends at ${isoOf(until)}`,
      );
  }
  return lines;
}
