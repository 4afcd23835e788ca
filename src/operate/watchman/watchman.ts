import { isSeverity } from '../../core/alerts.ts';
import type { Severity } from '../../core/alerts.ts';
import { DAY_MS, MINUTE_MS, instant, isoOf, spanText } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { foreign } from '../notify/notice.ts';
import type { Notice } from '../notify/notice.ts';
import { conditionKinds, conditionsOf } from './conditions.ts';
import type { Condition, ConditionKind, WatchLimits } from './conditions.ts';
import type { Probe } from './probe.ts';

/** An active condition: since when, and which notices were sent. */
interface Held {
  since: Instant;
  severity: Severity;
  tells: number;
  toldAt: Instant | undefined;
}

interface DeskMemory {
  /** Highest record number ever seen. */
  head: number;
  readonly held: Map<ConditionKind, Held>;
}

/** Interval until the next notice, by the number of notices sent. It doubles up to a day. */
const AGAIN_MS = 15 * MINUTE_MS;

/**
 * Decides when to notify people about desks that are watched from another host: once when a condition has lasted long
 * enough, again at growing intervals, and once when the condition ends. Its state is plain data that a later process
 * restores, so that a restart neither repeats nor loses a notice.
 */
export class Watchman {
  readonly #limits: WatchLimits;
  readonly #desks = new Map<string, DeskMemory>();

  constructor(limits: WatchLimits) {
    this.#limits = limits;
  }

  /** The notices after a probe of the desk named `name`. */
  take(name: string, probe: Probe): readonly Notice[] {
    const memory = this.#memoryOf(name);
    const conditions = conditionsOf(probe, this.#limits, memory.head);
    const notices: Notice[] = conditions.flatMap(
      (condition) => this.#hold(name, memory, condition, probe.at) ?? [],
    );
    const holds = new Set(conditions.map(({ kind }) => kind));
    for (const kind of conditionKinds)
      if (!holds.has(kind) && isKnown(kind, probe)) notices.push(...release(name, memory, kind, probe.at));
    const { status } = probe;
    if (status !== undefined && 'head' in status) memory.head = Math.max(memory.head, status.head ?? 0);
    return notices;
  }

  /** Plain JSON. */
  saved(): string {
    return JSON.stringify(
      [...this.#desks].map(([name, { head, held }]) => ({ name, head, held: [...held] })),
    );
  }

  /** Restores what `saved` returned; unreadable parts are ignored. */
  restore(text: string): void {
    let read: unknown;
    try {
      read = JSON.parse(text);
    } catch {
      return;
    }
    for (const each of Array.isArray(read) ? (read as readonly unknown[]) : []) {
      const desk = memoryIn(each);
      if (desk !== undefined) this.#desks.set(desk.name, desk.memory);
    }
  }

  #memoryOf(name: string): DeskMemory {
    const known = this.#desks.get(name);
    if (known !== undefined) return known;
    const made: DeskMemory = { head: 0, held: new Map() };
    this.#desks.set(name, made);
    return made;
  }

  #hold(name: string, memory: DeskMemory, condition: Condition, at: Instant): Notice | undefined {
    const { kind, severity, says, lines, graceMs } = condition;
    const held = memory.held.get(kind) ?? { since: at, severity, tells: 0, toldAt: undefined };
    memory.held.set(kind, held);
    const wait = Math.min(DAY_MS, AGAIN_MS * 2 ** Math.min(held.tells - 1, 10));
    const isTime = held.toldAt === undefined ? at - held.since >= graceMs : at - held.toldAt >= wait;
    if (!isTime) return undefined;
    held.tells += 1;
    held.toldAt = at;
    const again = held.tells === 1 ? '' : `, for ${spanText(at - held.since)} so far`;
    return noticeOf(name, {
      kind: `desk_${kind}`,
      severity,
      at,
      title: `${says}${again}`,
      lines: [`since: ${isoOf(held.since)}`, ...lines],
    });
  }
}

/** Whether the probe shows anything about the condition. An active condition stays active while its state is unknown. */
function isKnown(kind: ConditionKind, { dead, notReady, clock, status }: Probe): boolean {
  if (kind === 'silent' || dead !== undefined) return dead === undefined;
  if (kind === 'not_ready') return notReady !== undefined;
  if (kind === 'clock') return clock !== undefined;
  if (kind === 'refused') return status !== undefined;
  if (status === undefined || 'refused' in status) return false;
  return kind !== 'head_went_back' || status.head !== undefined;
}

/** A condition ended. People who were notified of it are notified of its end. */
function release(name: string, memory: DeskMemory, kind: ConditionKind, at: Instant): readonly Notice[] {
  const held = memory.held.get(kind);
  memory.held.delete(kind);
  if (held?.toldAt === undefined) return [];
  return [
    noticeOf(name, {
      kind: `desk_${kind}_over`,
      // The notice reaches the people who were notified.
      severity: held.severity,
      at,
      title: OVER[kind],
      lines: [`it began at ${isoOf(held.since)} and lasted ${spanText(at - held.since)}`],
    }),
  ];
}

const OVER: Readonly<Record<ConditionKind, string>> = {
  silent: 'responds again',
  not_ready: 'can trade again',
  refused: 'responds to the watchman again',
  old_data: 'reads its account again',
  stuck: 'writes records again',
  alerts: 'no longer has a critical alert',
  head_went_back: 'has all of its records again',
  clock: 'has the correct time again',
};

/** Notices of two desks are of different kinds, so that one does not count as a repeat of the other. */
const noticeOf = (
  name: string,
  { kind, title, ...notice }: Pick<Notice, 'kind' | 'severity' | 'at' | 'title' | 'lines'>,
): Notice => ({ topic: 'alerts', ...notice, kind: `${kind}:${name}`, title: `${foreign(name)} ${title}` });

function memoryIn(value: unknown): { readonly name: string; readonly memory: DeskMemory } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, head, held }: { name?: unknown; head?: unknown; held?: unknown } = value;
  if (typeof name !== 'string' || typeof head !== 'number' || !Array.isArray(held)) return undefined;
  const memory: DeskMemory = { head, held: new Map() };
  for (const each of held as readonly unknown[]) {
    const [kind, one] = Array.isArray(each) ? (each as readonly unknown[]) : [];
    const known = conditionKinds.find((candidate) => candidate === kind);
    if (known === undefined || typeof one !== 'object' || one === null) continue;
    const { since, severity, tells, toldAt }: { since?: unknown; severity?: unknown; tells?: unknown; toldAt?: unknown } = one; // prettier-ignore
    if (typeof since !== 'number' || typeof tells !== 'number') continue;
    if (typeof severity !== 'string' || !isSeverity(severity)) continue;
    memory.held.set(known, {
      since: instant(since),
      severity,
      tells,
      toldAt: typeof toldAt === 'number' ? instant(toldAt) : undefined,
    });
  }
  return { name, memory };
}
