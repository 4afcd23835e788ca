import { resolve } from 'node:path';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import { pairsOfRate } from '../../core/rates.ts';
import { after, DAY_MS } from '../../core/time.ts';
import { readJournalSnapshot } from '../strategies/journal-snapshot.ts';
import type { JournalSnapshot } from '../strategies/journal-snapshot.ts';
import { readConfig } from '../config/config.ts';
import type { Config, Mode } from '../config/config.ts';
import { namedZone, readMoment, zoneHere } from '../cli/local-time.ts';
import { findFacts } from '../planning/plan-facts.ts';
import type { FactOptions } from '../planning/plan-facts.ts';
import { planData, planWords } from '../planning/plan-text.ts';
import type { PlanWorld } from '../planning/planning.ts';
import { planWorld, checkedPlan } from '../planning/checked-plan.ts';
import { formatProblems } from '../config/problems.ts';
import { statedRates } from '../config/rates.ts';
import { readStrategies, worldOf } from '../strategies/strategies.ts';
import type { LoadedStrategy } from '../strategies/strategies.ts';
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
  const found = await findFacts(config, pairsOf(strategies, config), options);
  for (const notice of found.notices) io.stderr.write(`note: ${notice}\n`);
  const begun = begunOf(config.journal, io);
  const span = { from, until: after(from, days * DAY_MS) };
  const world: PlanWorld = {
    ...planWorld(config, found, zone),
    life: (strategy) => begun?.life(strategy),
  };
  const told = checkedPlan({
    config,
    strategies,
    found,
    world,
    begun,
    span,
    days,
    isNamed: options.zone !== undefined,
  });
  if (options.json === true) io.stdout.write(`${escapeMarks(JSON.stringify(planData(told)))}\n`);
  else io.stdout.write(planWords(told, { isBrief: options.brief ?? false }));
  return told.feasible ? 0 : exitCodes.config;
}

/** Reads the snapshot of the config's journal. If it cannot be read, the plan assumes that no strategy has started. */
function begunOf(journal: string, io: PlanIo): JournalSnapshot | undefined {
  try {
    return readJournalSnapshot(journal);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown';
    io.stderr.write(
      `note: the journal cannot be read, so the plan assumes that no strategy has started: ${forTerminal(why)}\n`,
    );
    return undefined;
  }
}

function daysOf(days: number | undefined): number {
  if (days === undefined) return DAYS;
  if (!Number.isSafeInteger(days) || days < 1 || days > DAYS_MAX)
    throw new OperatorError('usage', `--days: expected a whole number from 1 to ${DAYS_MAX}`);
  return days;
}

/** Returns the pairs that strategies trade, and the pairs that convert their quote currencies into the currency of the limits. */
function pairsOf(strategies: readonly LoadedStrategy[], config: Config): readonly string[] {
  const world = worldOf(config);
  const limits = config.controls.orderNotionalMax.currency;
  const traded = [...new Set(strategies.flatMap(({ bound }) => bound.pairs))];
  const stated = statedRates(config);
  const rates = traded.flatMap((pair) => {
    const quote = world.currencies(pair)?.quote;
    const listing = { has: () => true, isComplete: false };
    return quote === undefined ? [] : (pairsOfRate(quote, limits, listing, { stated, between: [] }) ?? []);
  });
  return [...new Set([...traded, ...rates])];
}
