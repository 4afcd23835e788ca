import { resolve } from 'node:path';
import { z } from 'zod';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import { text } from '../../core/money.ts';
import type { ControlRecord } from '../../core/record.ts';
import { durationText, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { openJournal } from '../../journal/open-journal.ts';
import { assess, plainAssessment, timesOf } from '../../report/figures/assessment.ts';
import type { Assessment, LimitsJudged, Peak } from '../../report/figures/assessment.ts';
import { JUDGED } from '../../report/figures/order-limits.ts';
import type { OrderVerdict } from '../../report/figures/order-limits.ts';
import { changeWords } from '../../core/risk/limit-changes.ts';
import type { configSchema } from '../config/config-schema.ts';
import { loadConfig } from '../config/config.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { readFile } from '../config/files.ts';
import { version } from '../version.ts';
import type { CommandIo } from './io.ts';

export interface AssessOptions {
  /** URL of the journal. */
  readonly journal: string;
  readonly since?: Instant | undefined;
  /** Config whose controls the assessment shows as written. */
  readonly config?: string | undefined;
  /** Output of `npm run simulate -- --json FILE`. */
  readonly simulation?: string | undefined;
  /** Lists every order with the limits in force and the verdict. */
  readonly orders?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** The limits of a config file, and whether the last start used that config. */
interface Written {
  readonly hash: string;
  readonly isLast: boolean;
  readonly controls: Readonly<Record<string, unknown>>;
}

/**
 * Writes the yearly self-assessment (limits, breaches, halts, doubts, overrides, simulation seeds) as Markdown or, with
 * `json`, as data. Exit codes: 0; 65 if the journal's chain is broken.
 *
 * @throws OperatorError for files that cannot be used.
 */
export function assessment(options: AssessOptions, io: CommandIo): number {
  const journal = openJournal(options.journal, { readOnly: true });
  try {
    const chain = journal.verify();
    const found = assess(journal.read(), { from: options.since, hasVerdicts: options.orders });
    const limits = options.config === undefined ? undefined : limitsOf(options.config, found, io);
    const seeds = options.simulation === undefined ? undefined : readSimulation(options.simulation, io);
    if (options.json === true) {
      const plain = { assessment: plainAssessment(found), chain, limits, simulation: seeds };
      io.stdout.write(`${escapeMarks(JSON.stringify(plain, undefined, 2))}\n`);
    } else {
      const verdict = chain.ok
        ? `holds over all ${chain.count} records; head ${chain.head}`
        : `**BREAKS at record ${chain.seq}: ${chain.why}**`;
      io.stdout.write(`${markdown({ found, verdict, limits, seeds, now: io.now }).trimEnd()}\n`);
    }
    return chain.ok ? 0 : exitCodes.data;
  } finally {
    journal.close();
  }
}

function limitsOf(file: string, { starts }: Assessment, io: CommandIo): Written {
  const { hash } = loadConfig(file, io);
  const [document] = readFile(resolve(io.cwd, file), io).documents;
  const value = document?.value as z.input<typeof configSchema>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- has just passed the schema
  return { hash, isLast: starts.at(-1)?.config === hash, controls: value.controls ?? {} };
}

const simulationSchema = z.record(
  z.string(),
  z.object({
    title: z.string(),
    commit: z.string(),
    isOver: z.boolean(),
    seeds: z.int(),
    simulatedYears: z.number(),
    crashes: z.int(),
    violations: z.int(),
  }),
);
type Simulation = z.infer<typeof simulationSchema>;

const SIMULATION_BYTES_MAX = 16 * 1_048_576;

function readSimulation(file: string, { cwd }: CommandIo): Simulation {
  let value: unknown;
  try {
    value = JSON.parse(
      readRegularFile(resolve(cwd, file), { maxBytes: SIMULATION_BYTES_MAX }).toString('utf8'),
    );
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new OperatorError('data', `--simulation ${file}: ${why}`);
  }
  const parsed = simulationSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const at = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new OperatorError(
    'data',
    `--simulation ${file}: ${at} does not have the format that "npm run simulate -- --json FILE" writes`,
  );
}

interface Page {
  readonly found: Assessment;
  readonly verdict: string;
  readonly limits: Written | undefined;
  readonly seeds: Simulation | undefined;
  readonly now: Instant;
}

function markdown({ found, verdict, limits, seeds, now }: Page): string {
  const { period, doubts, peaks, largestDay, starts } = found;
  const span =
    period === undefined ? 'no records in the period' : `${isoOf(period.from)} to ${isoOf(period.until)}`;
  const ended = Object.entries(doubts.ended).map(([how, times]) => `${times} ${how}`);
  const later = Object.entries(found.provenLater).map(([source, times]) => `${times} by ${source}`);
  return [
    `# Self-assessment of desk ${cell(found.desks.join(', ')) || '?'}`,
    `Written ${isoOf(now)} by Tranche ${version} from the journal only. Covers the yearly review required by RTS 6 Art. 9 and SEC 15c3-5 (e).`,
    listed([
      `Period: ${span}`,
      `Journal: ${found.records} records; the chain ${verdict}`,
      `Orders: ${found.orders} intents, ${found.fills} fills worth ${text(found.notional)} in the currency of the limits`,
      `Peak: ${inPeak(peaks.second, 'second')}, ${inPeak(peaks.minute, 'minute')}${largestDay === undefined ? '' : `; largest day ${largestDay.day} with ${text(largestDay.notional)}`}`,
      `Fills that the answer to their order did not prove: ${later.join(', ') || 'none'}; corrected by the account: ${found.corrections}`,
      `Starts: ${starts.length}, ${found.deaths} of them after a process died`,
    ]),
    '## Limits in force, and orders against them',
    judgedIn(found.limits),
    '## Limits of a config file',
    limitsIn(limits, starts.at(-1)?.config),
    '## Refusals and cuts',
    refusalsIn(found),
    '## Pauses, halts and kills, and who lifted them',
    found.controls.length === 0
      ? 'None.'
      : rows(
          ['time', 'what', 'state', 'by', 'why'],
          found.controls.map((one) => [isoOf(one.at), scopeOf(one), stateOf(one), one.by, one.why]),
        ),
    '## Orders whose outcome was unknown',
    `${doubts.opened} opened; ${ended.join(', ') || 'none ended'}; ${doubts.byPerson} resolved by a person; open now: ${doubts.open.join(', ') || 'none'}. Median ${durationText(doubts.medianMs)}, longest ${durationText(doubts.longestMs)}.`,
    found.resolved.length === 0
      ? ''
      : rows(
          ['time', 'order', 'verdict', 'by', 'why'],
          found.resolved.map((one) => [isoOf(one.at), one.client_order_id, one.verdict, one.by, one.why]),
        ),
    '## Overrides',
    found.overrides.length === 0
      ? 'None.'
      : rows(
          ['time', 'id', 'step', 'limit', 'by', 'why'],
          found.overrides.map((one) => [
            isoOf(one.at),
            one.override,
            one.step,
            `${one.limit} ${one.value ?? 'lifted'}`,
            one.by,
            one.why,
          ]),
        ),
    '## Simulation',
    simulationIn(seeds),
    '## Stress',
    `Run \`npm run stress -- --peak-second ${peaks.second.orders} --peak-minute ${peaks.minute.orders}\` in a checkout of this version: it runs the whole engine at twice these peaks.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function judgedIn({ isRecorded, periods, counts, exceptions, verdicts }: LimitsJudged): string {
  const { within, override, beyond, unknown } = counts;
  const source = isRecorded
    ? 'From the records of settings in force, regardless of the current config.'
    : periods.length === 0
      ? '**This journal has no records of its limits**: an older version or a backtest wrote it. No order can be judged.'
      : '**This journal has no records of settings**: an older version wrote it. It shows the limits of each start and reload, but not who changed them in between.';
  return [
    source,
    `Orders sent: ${within} within, ${override} beyond a limit by override, ${beyond === 0 ? '0 beyond' : `**${beyond} beyond**`}${unknown === 0 ? '' : `, **${unknown} with no known limits**`}. Judged by ${JUDGED}; the other limits depend on balances, prices and state at that time, and appear as refusals.`,
    periods.length === 0
      ? ''
      : rows(
          ['record', 'since', 'orders', 'by', 'why', 'approved', 'changes'],
          periods.map((one) => [
            String(one.record),
            isoOf(one.since),
            String(one.orders),
            one.by,
            one.why,
            one.approvals.join(', '),
            one.changes.map(changeWords).join('; '),
          ]),
        ),
    verdictsIn(verdicts ?? exceptions),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const verdictsIn = (orders: readonly OrderVerdict[]): string =>
  orders.length === 0
    ? ''
    : rows(
        ['time', 'order', 'pair', 'side', 'notional', 'limits of record', 'verdict', 'exceeds'],
        orders.map((one) => [
          isoOf(one.at),
          one.client_order_id,
          one.pair,
          one.side,
          one.notional,
          String(one.limits_record ?? 'unknown'),
          one.verdict,
          one.exceeds.join('; '),
        ]),
      );

function limitsIn(limits: Written | undefined, last: string | undefined): string {
  if (limits === undefined)
    return `Not shown: name the config with \`--config\`. The last start ran with the config of hash ${last ?? '?'}.`;
  const told = limits.isLast
    ? 'The config of the last start'
    : `**Not the config of the last start** (${last ?? 'none'})`;
  const settings = Object.entries(limits.controls).map(([name, value]) => [name, JSON.stringify(value)]);
  return [
    `${told}, hash ${limits.hash}. Controls not listed have the default of docs/controls.md.`,
    settings.length === 0 ? 'It sets no control.' : rows(['setting', 'value'], settings),
  ].join('\n\n');
}

function refusalsIn({ refusals }: Assessment): string {
  if (refusals.length === 0) return 'None.';
  return rows(
    ['reason', 'times', 'slices', 'attempts', 'cuts', 'wakes', 'first', 'last', 'in words'],
    refusals.map((one) => [
      one.reason,
      String(timesOf(one)),
      String(one.slices),
      String(one.attempts),
      String(one.cuts),
      String(one.wakes),
      isoOf(one.first),
      isoOf(one.last),
      one.words,
    ]),
  );
}

function simulationIn(seeds: Simulation | undefined): string {
  if (seeds === undefined)
    return 'Not shown: run `npm run simulate -- --json FILE` in a checkout of this version and name the file with `--simulation`.';
  return rows(
    ['simulation', 'commit', 'seeds', 'simulated years', 'crashes', 'violations'],
    Object.values(seeds).map((one) => [
      one.isOver ? one.title : `${one.title} (cut short)`,
      one.commit,
      String(one.seeds),
      String(one.simulatedYears),
      String(one.crashes),
      String(one.violations),
    ]),
  );
}

const inPeak = ({ orders, at }: Peak, span: string): string =>
  `${orders} orders in one ${span}${at === undefined ? '' : ` (${isoOf(at)})`}`;

const scopeOf = ({ parent, pair, strategy }: ControlRecord): string =>
  parent ?? pair ?? (strategy === undefined ? 'desk' : `strategy ${strategy}`);
const stateOf = ({ state, transport }: ControlRecord): string => (transport === 'closed' ? 'killed' : state);

const listed = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');

/** Escapes text from people or the venue, which must neither end a table cell nor move the cursor. */
const cell = (value: string): string => forTerminal(value).replaceAll('|', '\\|');

const rows = (head: readonly string[], body: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...body.map((row) => row.map(cell))]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
