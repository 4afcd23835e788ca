import { catchError, defer, exhaustMap, finalize, from, ignoreElements, interval, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { text } from '../../core/money.ts';
import type { Ratio } from '../../core/money.ts';
import type { OutboxPort } from '../../core/outbox.ts';
import { MINUTE_MS, after, instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Observer } from '../../engine/observer.ts';
import type { Clock } from '../../engine/ports.ts';
import type { Journal } from '../../journal/journal.ts';
import { largestCause } from '../../research/twin/twin-json.ts';
import type { TwinReport } from '../../research/twin/twin-json.ts';
import { dayResultSchema, summaryOf } from './twin-summary.ts';
import type { DayResult } from './twin-summary.ts';

/** Settings of `operate.twin`. */
export interface DailyTwinConfig {
  /** Name of a preset, or absolute path of a file. */
  readonly model: string;
  readonly bound: Ratio;
  /** Number of consecutive days beyond the bound that raises an alert. */
  readonly days: number;
  readonly timeZone: string;
}

export interface DailyTwinParts {
  readonly clock: Pick<Clock, 'scheduler' | 'wall'>;
  readonly journal: Pick<Journal, 'select' | 'outbox'>;
  readonly alert: Observer['alert'];
  readonly warn: Observer['warn'];
  /** Compares one day on another thread. */
  readonly compareDay: (day: string, signal: AbortSignal) => Promise<TwinReport>;
}

/** Daily comparison of a running desk with its twin. */
export interface DailyTwin {
  /** Returns the last comparison by this process or an earlier one. */
  last(): DayResult | undefined;
  /** Returns why the last attempt failed, or `undefined` if it succeeded. */
  problem(): string | undefined;
  /** Compares each day after its end while subscribed. Never emits and never errors. */
  readonly running$: Observable<never>;
}

/** Time between the end of a day and its comparison. By then, most doubts have ended. */
const AFTER_MS = 15 * MINUTE_MS;
/** Name of the note that stores the last comparison. */
const NOTE = 'last_twin';

/**
 * Compares each day after its end, or only the last day if several have ended meanwhile. A failure becomes a warning,
 * and the comparison of the next day follows on schedule; trading never waits.
 */
export function dailyTwin(
  config: DailyTwinConfig,
  { clock, journal, alert, warn, compareDay }: DailyTwinParts,
): DailyTwin {
  let last = lastOf(journal.outbox);
  let tried = last?.day;
  let problem: string | undefined;
  const keep = (result: DayResult): void => {
    last = result;
    const isKept = journal.outbox?.save({ put: [], remove: [], notes: { [NOTE]: JSON.stringify(result) } });
    if (isKept === false)
      warn('the twin of the day is not saved for the next process: the disk is almost full', {});
  };
  const compareLastDay = async (signal: AbortSignal): Promise<void> => {
    const now = clock.wall();
    const { day, until } = lastDay(now, config.timeZone);
    if ((tried !== undefined && day <= tried) || !hasBegun(journal, until)) return;
    tried = day;
    const report = await compareDay(day, signal);
    const before = last?.days_beyond ?? 0;
    const daysBeyond = { within: 0, beyond: before + 1, empty: before }[report.verdict];
    keep({
      day,
      compared_at: isoOf(clock.wall()),
      days_beyond: daysBeyond,
      report: summaryOf(report),
    });
    problem = undefined;
    if (report.verdict !== 'beyond' || daysBeyond < config.days) return;
    const cause = largestCause(report);
    alert('twin_beyond', {
      day,
      days: daysBeyond,
      difference_bps: report.difference_bps,
      bound_bps: text(config.bound),
      cause: cause?.cause,
      cause_bps: cause?.bps,
    });
  };
  const attempt$ = defer(() => {
    const stopping = new AbortController();
    return from(compareLastDay(stopping.signal)).pipe(
      catchError((error: unknown) => {
        problem = `the twin of ${tried ?? 'the day'} could not be computed: ${error instanceof Error ? error.message : 'unknown'}`;
        warn(problem, {});
        return of(undefined);
      }),
      finalize(() => {
        stopping.abort();
      }),
    );
  });
  return {
    last: () => last,
    problem: () => problem,
    running$: interval(MINUTE_MS, clock.scheduler).pipe(
      exhaustMap(() => attempt$),
      ignoreElements(),
    ),
  };
}

/** Returns the last day that ended at least `AFTER_MS` before `now`, and its end. */
function lastDay(now: Instant, timeZone: string): { readonly day: string; readonly until: Instant } {
  const today = Temporal.Instant.fromEpochMilliseconds(after(now, -AFTER_MS))
    .toZonedDateTimeISO(timeZone)
    .toPlainDate();
  const until = instant(today.toZonedDateTime(timeZone).epochMilliseconds);
  return { day: today.subtract({ days: 1 }).toString(), until };
}

/** Returns whether the journal has a record before `until`. */
function hasBegun(journal: DailyTwinParts['journal'], until: Instant): boolean {
  for (const { at } of journal.select({ until, order: 'oldest' })) return at < until;
  return false;
}

/** Returns the comparison that an earlier process saved, or `undefined` if there is none that this version can read. */
function lastOf(outbox: OutboxPort | undefined): DayResult | undefined {
  const kept = outbox?.load().notes.get(NOTE);
  if (kept === undefined) return undefined;
  try {
    const found = dayResultSchema.safeParse(JSON.parse(kept));
    return found.success ? found.data : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the last comparison in one line, for the digest. */
export function twinLine({ day, days_beyond: daysBeyond, report }: DayResult): string {
  const { verdict, difference_bps: bps, bound_bps: bound, causes } = report;
  if (verdict === 'empty') return `twin of ${day}: nothing was traded`;
  const says = `twin of ${day}: live differs by ${bps ?? '0'} bps, ${verdict} the bound of ${bound}`;
  const [largest] = causes.toSorted((a, b) => Math.abs(Number(b.usd)) - Math.abs(Number(a.usd)));
  if (verdict === 'within' || largest === undefined) return says;
  return `${says}; mainly: ${largest.says}${daysBeyond > 1 ? `; ${daysBeyond} days in a row` : ''}`;
}
