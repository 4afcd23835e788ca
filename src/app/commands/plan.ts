import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/escape.ts';
import { precisionsOf } from '../../core/instrument.ts';
import { pairsOfRate } from '../../core/rates.ts';
import { after, DAY_MS, instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { calendarFile } from '../../planning/calendar-file.ts';
import { approvalChecks } from '../../planning/check-approvals.ts';
import { checksOf, isFeasible } from '../../planning/feasible.ts';
import { expectedCosts } from '../../planning/check-cost.ts';
import type { Check, PlanFacts, PlannedStrategy } from '../../planning/plan.ts';
import type { Problem } from '../../strategy/kernel.ts';
import { readJournalSnapshot } from '../strategies/journal-snapshot.ts';
import type { JournalSnapshot } from '../strategies/journal-snapshot.ts';
import { readConfig } from '../config/config.ts';
import type { Config, Mode } from '../config/config.ts';
import { whyUnreadable } from '../config/files.ts';
import { namedZone, readMoment, zoneHere } from '../cli/local-time.ts';
import { findFacts } from '../planning/plan-facts.ts';
import type { FactOptions, Found } from '../planning/plan-facts.ts';
import { planLimits } from '../planning/plan-limits.ts';
import { planData, planEvents, planWords } from '../planning/plan-text.ts';
import type { ToldPlan } from '../planning/plan-text.ts';
import { planOf } from '../planning/planning.ts';
import type { PlanWorld } from '../planning/planning.ts';
import { rehearse } from '../planning/rehearse.ts';
import { formatProblems } from '../config/problems.ts';
import { statedRates } from '../config/rates.ts';
import { readStrategies, worldOf } from '../strategies/strategies.ts';
import type { LoadedStrategy } from '../strategies/strategies.ts';
import type { Secret } from '../config/secret.ts';
import type { CommandIo } from './io.ts';

export interface PlanOptions extends FactOptions {
  readonly config: string;
  readonly files?: readonly string[] | undefined;
  readonly mode?: Mode | undefined;
  readonly days?: number | undefined;
  /** As if it were that time. */
  readonly from?: string | undefined;
  readonly zone?: string | undefined;
  readonly brief?: boolean | undefined;
  readonly json?: boolean | undefined;
  /** File for the calendar. */
  readonly ics?: string | undefined;
}

/** What `plan` needs of its process besides files and variables. */
export interface PlanIo extends CommandIo {
  /** Takes a secret out of the variables of this process and out of all that it prints. */
  readonly forget?: ((secret: Secret | undefined) => void) | undefined;
}

const DAYS = 7;
const DAYS_MAX = 400;

/**
 * Every slot ahead with its size, and whether the desk can do it: nothing is traded. Exit codes: 0 feasible, 78 when a file is
 * not usable or the plan cannot be done, 64 for a mistake in the arguments, 74 when the calendar cannot be written.
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
  const told = toldPlan({
    config,
    strategies,
    found,
    world,
    begun,
    span,
    days,
    isNamed: options.zone !== undefined,
  });
  if (options.ics !== undefined) writeCalendar(resolve(io.cwd, options.ics), told, { config, now: io.now });
  if (options.json === true) io.stdout.write(`${escapeMarks(JSON.stringify(planData(told)))}\n`);
  else io.stdout.write(planWords(told, { isBrief: options.brief ?? false }));
  return told.feasible ? 0 : exitCodes.config;
}

/** What the journal of the config knows, where there is one. A plan does without it rather than not at all. */
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

/** The pairs that strategies trade, and those that convert their quote currencies into that of the limits. */
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

function planWorld(config: Config, { precisions }: Found, zone: string): PlanWorld {
  const world = worldOf(config);
  return {
    ...world,
    // What the venue has just told counts.
    precisions(pair) {
      const names = world.currencies(pair);
      return names === undefined
        ? world.precisions(pair)
        : precisionsOf(names, (currency) => precisions.get(currency), world.minimum(pair));
    },
    zone,
  };
}

const refusals = (strategy: string, problems: readonly Problem[]): readonly Check[] =>
  problems.map(({ message }) => ({ check: 'minimum', verdict: 'refused', strategy, says: message }));

interface Wanted {
  readonly config: Config;
  readonly strategies: readonly LoadedStrategy[];
  readonly found: Found;
  readonly world: PlanWorld;
  readonly begun: JournalSnapshot | undefined;
  readonly span: { readonly from: Instant; readonly until: Instant };
  readonly days: number;
  /** Whether one zone was named for all. */
  readonly isNamed: boolean;
}

function toldPlan({ config, strategies, found, world, begun, span, days, isNamed }: Wanted): ToldPlan {
  const facts: PlanFacts = {
    ...planLimits(config),
    now: span.from,
    until: span.until,
    currencies: (pair) => world.currencies(pair),
    minimum: (pair) => world.minimum(pair),
    precisions: (pair) => world.precisions(pair),
    price: (pair) => found.prices.get(pair),
    funds: found.funds,
    traded: begun && {
      day: isoOf(span.from).slice(0, 10),
      total: begun.dayNotional(span.from),
      ofPair: (pair) => begun.dayNotional(span.from, pair),
    },
  };
  const planned = strategies.map((one): PlannedStrategy => {
    const own = planOf(one, span, world);
    const estimate = estimateOf(one, own, facts);
    return {
      ...own,
      ...(isNamed ? { zone: world.zone } : {}),
      ...(estimate === undefined ? {} : { estimate }),
    };
  });
  const checks = [
    ...checksOf(planned, facts),
    ...approvalChecks(planned, facts, {
      policy: config.operate?.approvals,
      isBegun: (id) => begun?.life(id)?.hash === strategies.find((one) => one.id === id)?.hash,
    }),
    // Checked before, without what the venue has told since: the decimals of its currencies.
    ...strategies
      .filter(({ id }) => planned.some((one) => one.id === id && one.standing !== 'finished'))
      .flatMap(({ id, bound }) => refusals(id, bound.check(world))),
  ];
  return {
    from: span.from,
    until: span.until,
    days,
    where: `mode ${config.mode}, desk ${config.desk}`,
    strategies: planned,
    costs: expectedCosts(planned, facts),
    checks,
    feasible: isFeasible(checks),
    currency: facts.limits.currency,
    names: (pair) => world.currencies(pair),
  };
}

/** Of a strategy that decides on the account: at its next time, or now where it watches the prices. */
function estimateOf(
  { id, bound, document }: LoadedStrategy,
  { standing, times }: PlannedStrategy,
  facts: PlanFacts,
): PlannedStrategy['estimate'] {
  if (!bound.isEstimated || standing === 'finished') return undefined;
  const isScheduled = document['schedule'] !== undefined;
  const at = isScheduled ? times.find(({ closed }) => closed === undefined)?.at : facts.now;
  return at === undefined ? undefined : rehearse({ id, bound, at, isScheduled }, facts);
}

function writeCalendar(
  file: string,
  told: ToldPlan,
  { config, now }: { readonly config: Config; readonly now: Instant },
): void {
  try {
    writeFileSync(file, calendarFile(planEvents(told, config.desk), { madeAt: instant(now) }));
  } catch (cause) {
    throw new OperatorError('storage', `--ics: ${file} cannot be written: ${whyUnreadable(cause)}`, cause);
  }
}
