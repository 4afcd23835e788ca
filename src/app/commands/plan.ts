import { resolve } from 'node:path';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import { after, DAY_MS } from '../../core/time.ts';
import { rehearse } from '../../planning/rehearse.ts';
import { planData, planOf, planWords } from '../../planning/wording.ts';
import { readConfig } from '../config/config.ts';
import type { Mode } from '../config/config.ts';
import { localText, namedZone, readMoment, zoneHere, zoneOf } from '../cli/local-time.ts';
import { findFacts } from '../connect/plan-facts.ts';
import type { FactOptions } from '../connect/plan-facts.ts';
import { formatProblems } from '../config/problems.ts';
import { pairsOf, rehearsalOf } from '../strategies/feasibility.ts';
import { readJournalState } from '../strategies/journal-state.ts';
import { readStrategies } from '../strategies/strategies.ts';
import type { Secret } from '../config/secret.ts';
import type { CommandIo, Given } from './io.ts';

export type PlanOptions = FactOptions &
  Given<'from' | 'zone', 'brief' | 'json', 'days'> & {
    readonly config: string;
    readonly files?: readonly string[] | undefined;
    readonly mode?: Mode | undefined;
  };

/** Access to the process that `plan` needs in addition to files and variables. */
export interface PlanIo extends CommandIo {
  /** Removes a secret from the variables of this process and from everything that it prints. */
  readonly forget?: ((secret: Secret | undefined) => void) | undefined;
}

const DAYS = 7;
const DAYS_MAX = 400;

/**
 * Lists every upcoming slot with its size, and whether the desk can execute it; trades nothing. Exit codes: 0 feasible,
 * 78 when a file is not usable or the plan is not feasible, 64 for invalid arguments.
 */
export async function plan(options: PlanOptions, io: PlanIo): Promise<number> {
  const zone = options.zone === undefined ? zoneHere() : namedZone(options.zone);
  const from = options.from === undefined ? io.now : readMoment(options.from, { option: '--from', zone });
  const days = daysOf(options.days);
  const settings = { env: io.env, cwd: io.cwd, now: io.now, mode: options.mode };
  const read = readConfig(options.config, settings);
  const config = read.loaded?.config;
  const named = (options.files ?? []).map((file) => resolve(io.cwd, file));
  const checked = readStrategies(named.length > 0 ? named : read.strategyFiles, config, io);
  const problems = [...read.problems, ...checked.problems];
  if (config === undefined || problems.length > 0) {
    if (options.json === true)
      io.stdout.write(`${escapeMarks(JSON.stringify({ feasible: false, problems }))}\n`);
    else io.stderr.write(formatProblems(problems, { colour: io.colour }));
    return exitCodes.config;
  }
  io.forget?.(config.venue.token);
  const strategies = checked.strategies.filter(({ enabled }) => enabled);
  const facts = await findFacts(config, pairsOf(strategies, config), options);
  for (const notice of facts.notices) io.stderr.write(`note: ${notice}\n`);
  const state = readJournalState(config.journal, (why) =>
    io.stderr.write(
      `note: the journal cannot be read, so the plan assumes that no strategy has started: ${forTerminal(why)}\n`,
    ),
  );
  const setup = rehearsalOf(config, {
    strategies,
    facts,
    from,
    until: after(from, days * DAY_MS),
    state,
  });
  const planned = planOf(rehearse(setup), {
    days,
    where: `mode ${config.mode}, desk ${config.desk}`,
    approvals: config.operate?.approvals,
    zoneOf: ({ source }) => (options.zone === undefined ? (zoneOf(source.document) ?? zone) : zone),
    local: localText,
  });
  if (options.json === true) io.stdout.write(`${escapeMarks(JSON.stringify(planData(planned)))}\n`);
  else io.stdout.write(planWords(planned, { isBrief: options.brief ?? false }));
  return planned.isFeasible ? 0 : exitCodes.config;
}

function daysOf(days: number | undefined): number {
  if (days === undefined) return DAYS;
  if (!Number.isSafeInteger(days) || days < 1 || days > DAYS_MAX)
    throw new OperatorError('usage', `--days: expected a whole number from 1 to ${DAYS_MAX}`);
  return days;
}
