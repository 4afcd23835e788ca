import { assumptionsOf } from '../backtest/model.ts';
import type { Backtest } from '../backtest/run.ts';
import { knownAt } from '../backtest/tape.ts';
import type { Alert } from '../core/alerts.ts';
import { text } from '../core/money.ts';
import { reasons } from '../core/reasons.ts';
import type { Reason } from '../core/reasons.ts';
import type { StoredRecord } from '../core/record.ts';
import { isoOf } from '../core/time.ts';
import type { Journal } from '../journal/journal.ts';
import type { BacktestInput } from './backtest-input.ts';
import type { NamedModel } from './model-file.ts';
import { Summary, summaryLines, table } from './summary.ts';
import { version } from './version.ts';

/** What came of a backtest, counted from its records as they come by. */
export class Tally {
  readonly summary = new Summary();
  /** Slices that were decided, by strategy. */
  readonly slices = new Map<string, number>();
  /** How slices ended, and why not filled, by strategy. */
  readonly ends = new Map<string, Map<string, number>>();
  readonly alerts = new Map<Alert, { count: number; readonly first: Readonly<Record<string, unknown>> }>();

  take(stored: StoredRecord): void {
    const { body } = stored;
    this.summary.take(stored);
    if (body.kind === 'wake' && body.intents.length > 0)
      this.slices.set(body.strategy, (this.slices.get(body.strategy) ?? 0) + body.intents.length);
    if (body.kind === 'slice') this.#end(body.strategy, body.result, body.reason);
    if (body.kind === 'wake' && body.reason !== undefined && body.reason !== 'waiting')
      this.#end(body.strategy, 'no trade', body.reason);
  }

  alert(alert: Alert, facts: Readonly<Record<string, unknown>> = {}): void {
    const known = this.alerts.get(alert);
    if (known === undefined) this.alerts.set(alert, { count: 1, first: facts });
    else known.count++;
  }

  #end(strategy: string, result: string, reason: Reason | undefined): void {
    const ends = this.ends.get(strategy) ?? new Map<string, number>();
    this.ends.set(strategy, ends);
    const key = reason === undefined ? result : `${result} ${reason}`;
    ends.set(key, (ends.get(key) ?? 0) + 1);
  }
}

/** What a backtest is reported as. Amounts are text. */
export interface BacktestResult {
  readonly version: string;
  readonly desk: string;
  readonly config_hash: string;
  readonly from: string;
  /** Not itself. */
  readonly until: string;
  readonly seed: string;
  readonly model: string;
  readonly assumptions: Readonly<Record<string, unknown>>;
  readonly tapes: readonly {
    readonly pair: string;
    readonly file: string;
    readonly rows: number;
    readonly bar_ms: number;
    /** When the first and the last close are known. */
    readonly from: string;
    readonly until: string;
    readonly hash: string;
  }[];
  readonly strategies: readonly object[];
  /** Slices that were decided, by strategy. */
  readonly slices: Readonly<Record<string, number>>;
  readonly ends: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly alerts: Readonly<Record<string, number>>;
  readonly control: string;
  readonly holdings: Readonly<Record<string, string>>;
  /** At the last prices of the tapes. */
  readonly value_usd: string;
  readonly open_doubts: number;
  readonly journal: { readonly records: number; readonly head: string };
}

interface Ended {
  readonly input: BacktestInput;
  readonly named: NamedModel;
  readonly running: Backtest;
  readonly journal: Journal;
  readonly tally: Tally;
  readonly seed: string;
}

export function resultOf({ input, named, running, journal, tally, seed }: Ended): BacktestResult {
  const { exchange, clock, desk } = running;
  const [account] = exchange.accounts;
  const name = account?.name ?? '';
  const balances = exchange.balances(name);
  const { seq: records, hash: head } = journal.head();
  return {
    version,
    desk: desk.policy.desk,
    config_hash: input.configHash,
    from: isoOf(input.from),
    until: isoOf(input.until),
    seed,
    model: named.name,
    assumptions: assumptionsOf(named.model),
    tapes: input.tapes.map(({ tape, file }) => ({
      pair: tape.pair,
      file,
      rows: tape.rows,
      bar_ms: tape.barMs,
      from: isoOf(knownAt(tape, 0)),
      until: isoOf(knownAt(tape, tape.rows - 1)),
      hash: tape.hash,
    })),
    strategies: tally.summary.rows().map(({ costBps, ...row }) => ({ ...row, cost_bps: costBps })),
    slices: Object.fromEntries(tally.slices),
    ends: Object.fromEntries([...tally.ends].map(([id, ends]) => [id, Object.fromEntries(ends)])),
    alerts: Object.fromEntries([...tally.alerts].map(([alert, { count }]) => [alert, count])),
    control: desk.control,
    holdings: balances.ok
      ? Object.fromEntries(balances.value.map(({ currency, balance }) => [currency, text(balance)]))
      : {},
    value_usd: text(exchange.valueOf(name, clock.wall())),
    open_doubts: desk.state.doubts.length,
    journal: { records, head },
  };
}

/** The same for people. */
export function resultWords(result: BacktestResult, tally: Tally): readonly string[] {
  const ends = [...tally.ends].flatMap(([id, counts]) =>
    [...counts].map(([key, count]) => {
      const [kind = '', reason] = key.startsWith('no trade ') ? ['no trade', key.slice(9)] : key.split(' ');
      return [id, String(count), kind, reason === undefined ? '' : reasonText(reason)];
    }),
  );
  const tapes = result.tapes.map(({ pair, rows, file, from, until }) => [
    pair,
    `${rows} rows`,
    `${from} to ${until}`,
    file,
  ]);
  return [
    `${result.from} to ${result.until}, model ${result.model}, seed ${result.seed}`,
    ...table(tapes),
    '',
    ...summaryLines(tally.summary.rows()),
    '',
    ...(ends.length === 0 ? [] : ['how slices ended', ...table(ends), '']),
    ...[...tally.alerts].map(([alert, { count }]) => `alert ${alert}: ${count}`),
    `holdings  ${Object.entries(result.holdings)
      .map(([currency, amount]) => `${amount} ${currency}`)
      .join(', ')}`,
    `value     ${result.value_usd} usd at the end`,
    ...(result.control === 'active' ? [] : [`the desk ended ${result.control}`]),
    `journal   ${result.journal.records} records, head ${result.journal.head}`,
    '',
    'assumed: ' + assumptionWords(result.assumptions),
  ];
}

const assumptionWords = (assumptions: Readonly<Record<string, unknown>>): string =>
  Object.entries(assumptions)
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');

const reasonText = (code: string): string => (Object.hasOwn(reasons, code) ? reasons[code as Reason] : code); // oxlint-disable-line typescript/no-unsafe-type-assertion -- it is one of its keys
