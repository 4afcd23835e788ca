import { parentId } from '../../core/ids.ts';
import { reasons } from '../../core/reasons.ts';
import { after, isoOf, parseDuration, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import type { AnswerOf } from '../../operate/api/desk-reads.ts';
import { slotCounts } from '../cli/watch.ts';
import { awaitedByStrategy } from './approvals-api.ts';
import { nextAt, tradedOf } from './desk-api.ts';

type StrategyRow = AnswerOf<'/api/v1/strategies'>['items'][number];
type ParentRow = AnswerOf<'/api/v1/parents'>['items'][number];

/** Returns every strategy of the desk with its current state. */
export function strategyRows(desk: Desk): readonly StrategyRow[] {
  const { state, strategies } = desk;
  const counts = slotCounts(desk);
  const awaited = awaitedByStrategy(desk);
  const open = new Map<string, number>();
  for (const { strategy } of state.slices.values()) open.set(strategy, (open.get(strategy) ?? 0) + 1);
  return [...strategies.sources.values()].map(({ id, kind, hash, bound }): StrategyRow => {
    const life = state.lives.get(id);
    const paused = state.totals.data.paused.get(`strategy:${id}`);
    const stage = life?.state === undefined ? 'begins' : 'waits';
    return {
      id,
      kind,
      state: life?.finished !== undefined ? 'finished' : paused === undefined ? stage : 'paused',
      hash: life?.hash ?? hash,
      pairs: bound.pairs,
      traded: life?.state === undefined ? undefined : tradedOf(desk, id, bound.progress(life.state)),
      slices_done: life?.slicesDone ?? 0,
      slices_filled: life?.slicesFilled ?? 0,
      slices_open: open.get(id) ?? 0,
      slices_total: counts.get(id) ?? 0,
      next_at: nextAt(life?.waits ?? []),
      last_reason: life?.lastReason,
      says: life?.lastReason && reasons[life.lastReason],
      paused_why: paused,
      finished: life?.finished,
      begun_at: life && isoOf(life.begunAt),
      waits_for_approval: awaited.get(id),
    };
  });
}

/** Returns the desk's parents: those of strategies that know their total, and those with an open slice. */
export function parentRows(desk: Desk, strategy?: string): readonly ParentRow[] {
  const { state, strategies, policy } = desk;
  const rows = new Map<string, ParentRow>();
  for (const life of state.lives.values()) {
    if (strategy !== undefined && life.strategy !== strategy) continue;
    const bound = strategies.sources.get(life.strategy)?.bound;
    const progress = life.state === undefined ? undefined : bound?.progress(life.state);
    if (bound === undefined || progress === undefined) continue;
    const parent = parentId(policy.desk, life.strategy, life.hash, String(life.begunAt), 'all');
    const document = (life.document ?? {}) as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- documents are objects
    const { side } = document;
    const end = endOf(document, life.begunAt);
    rows.set(parent, {
      parent,
      strategy: life.strategy,
      kind: life.type,
      pair: bound.pairs.length === 1 ? bound.pairs[0] : undefined,
      side: side === 'buy' || side === 'sell' ? side : undefined,
      ...progress,
      begun_at: isoOf(life.begunAt),
      ends_at: end === undefined ? undefined : isoOf(end),
      finished: life.finished,
    });
  }
  for (const { strategy: id, intent, decidedAt } of state.slices.values()) {
    const { parent, leg, pair, side } = intent;
    if (rows.has(parent) || (strategy !== undefined && id !== strategy)) continue;
    const kind = state.lives.get(id)?.type ?? '';
    rows.set(parent, { parent, strategy: id, kind, leg, pair, side, begun_at: isoOf(decidedAt) });
  }
  return [...rows.values()].toSorted((a, b) => (a.begun_at < b.begun_at ? -1 : Number(a.begun_at > b.begun_at))); // prettier-ignore
}

/** Returns the end of the window of a parent that is planned as a whole. */
function endOf(document: Readonly<Record<string, unknown>>, begunAt: Instant): Instant | undefined {
  const { start_time: start, end_time: end, duration } = document;
  if (typeof end === 'string') return parseTime(end);
  if (typeof duration !== 'string') return undefined;
  return after(typeof start === 'string' ? parseTime(start) : begunAt, parseDuration(duration));
}
