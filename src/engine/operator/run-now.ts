import { EMPTY, filter, mergeMap, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { reasons } from '../../core/reasons.ts';
import type { IntentText, WakeRecord } from '../../core/record.ts';
import type { Desk } from '../desk.ts';
import type { Command, CommandAnswer } from '../ports.ts';
import type { RunCommand, StrategyWake } from '../stages/triggers.ts';

const isRunNow = (command: Command): command is RunCommand => command.do === 'run';

/** Longest wait for a fresh price after a person's command; then nothing runs. */
export const RUN_WAIT_MS = 3_000;

/**
 * Runs of a strategy that people request. Only the record of the step counts. Before it is durable, nothing has
 * started; after that, the next process continues the run. An occurrence therefore runs once or not at all.
 */
export const runsNow = (desk: Desk): Observable<StrategyWake> =>
  desk.ports.operator$.pipe(
    filter(isRunNow),
    mergeMap((command) => {
      const { strategy, by, why } = command;
      const fault = runNowFault(desk, strategy);
      if (fault !== undefined) {
        command.answer({ isDone: false, says: fault });
        return EMPTY;
      }
      const wake = { on: 'run', at: desk.ports.clock.wall(), by, why } as const;
      return of({ strategy, wake, isAtOnce: false, command });
    }),
  );

/** Why a strategy cannot run an occurrence now. Checked again when the step is taken. */
export function runNowFault(desk: Desk, strategy: string): string | undefined {
  const { strategies, state } = desk;
  const life = state.lives.get(strategy);
  const source = strategies.sources.get(strategy);
  if (source === undefined || life === undefined) {
    const ids = [...strategies.sources.keys()].join(', ');
    return `no strategy ${strategy} runs; ${ids === '' ? 'none does' : `there are ${ids}`}`;
  }
  if (life.finished !== undefined) return `${strategy} has ended: ${life.finished}`;
  if (life.state === undefined) return `${strategy} has not started yet`;
  const pausedWhy = state.totals.strategyPausedWhy(strategy);
  if (pausedWhy !== undefined) return `${strategy} is paused: ${pausedWhy}. Resume it first`;
  if (desk.control !== 'active') return `the desk is ${desk.control}: ${desk.controlWhy}`;
  const fault = source.bound.runFault(life.state, desk.ports.clock.wall());
  return fault === undefined ? undefined : `${strategy} cannot run now: ${fault}`;
}

/** The result of the step, for the person who asked. */
export function ranAnswer({ instruments }: Pick<Desk, 'instruments'>, record: WakeRecord): CommandAnswer {
  const { strategy, intents, reason, note, waits } = record;
  const facts = { strategy, reason, intents: intents.length };
  const because = reason === undefined ? '' : `: ${reason}, ${reasons[reason]}`;
  const figures = note === undefined ? '' : ` (${note})`;
  if (reason === 'strategy_failed')
    return { isDone: false, says: `${strategy} failed and is paused: ${note ?? ''}`, facts };
  if (intents.length > 0) {
    const wants = intents.map((intent) => wantedOf(intent, instruments)).join(', ');
    return { isDone: true, says: `${strategy} runs now: ${wants}`, facts };
  }
  // Jitter shifts its first slot.
  const isLater = reason === undefined && waits.some(({ on }) => on === 'at');
  const says = isLater
    ? 'runs now; its first slice is due shortly'
    : `ran, but trades nothing${because}${figures}`;
  return { isDone: true, says: `${strategy} ${says}`, facts };
}

function wantedOf({ side, size, by, pair }: IntentText, instruments: Desk['instruments']): string {
  const { base, quote } = instruments.of(pair);
  return `${side} ${size} ${by === 'quantity' ? base : quote} in ${pair}`;
}
