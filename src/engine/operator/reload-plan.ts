import type { StrategyRun } from '../state/strategy-run.ts';
import type { BegunDocument, StrategySource } from '../state/strategy-source.ts';

/** What a change of the files means for one strategy. */
export interface Change {
  readonly strategy: string;
  /**
   * `begins`: a new life. `goes_on`: a life that was not run any more. `replaces`: takes over from a running life. `stops`: is
   * not run any more. `kept`: refused, the running life keeps its text. `over`: its life has ended, and the same text never
   * begins again.
   */
  readonly what: 'begins' | 'goes_on' | 'replaces' | 'stops' | 'kept' | 'over';
  /** Hash of the document that ran or started last. */
  readonly from?: string | undefined;
  /** Hash of the text in the file. */
  readonly to?: string | undefined;
  /** For people. */
  readonly why?: string | undefined;
}

export interface Planned {
  readonly changes: readonly Change[];
  /** What is run from now on. */
  readonly run: readonly StrategySource[];
  /** Those of them that begin a life. */
  readonly begin: readonly StrategySource[];
  /** Why a running life cannot keep its text: the change as a whole is refused. */
  readonly faults: readonly string[];
}

/** Input of the plan. */
export interface Standing {
  /** Run until now. */
  readonly running: ReadonlyMap<string, StrategySource>;
  readonly lives: ReadonlyMap<string, StrategyRun>;
  /** Strategies with slices that have not ended. */
  readonly open: ReadonlySet<string>;
  /** A source from the first document of a life; `undefined` if this version cannot read it. */
  revive(begun: BegunDocument): StrategySource | undefined;
}

const KEPT =
  'its parent is running and keeps the text it began with; give the new text another id, or wait for its end';
const OPEN = 'a slice is open: reload again when it has ended';

/** What would be run, and what begins, when the files say this. */
export function planChange(
  standing: Standing,
  wanted: readonly StrategySource[],
  off: readonly string[],
): Planned {
  const each = wanted.map((source) => planOne(standing, source));
  const named = new Set(wanted.map(({ id }) => id));
  const gone = [...standing.running.values()].filter(({ id }) => !named.has(id));
  const stopped = gone.map(({ id, hash }): Change => ({
    strategy: id,
    what: 'stops',
    from: hash,
    why: goneWhy(standing, id, off.includes(id)),
  }));
  return {
    changes: [...each.flatMap(({ change }) => (change === undefined ? [] : [change])), ...stopped],
    run: each.flatMap(({ run }) => (run === undefined ? [] : [run])),
    begin: each.flatMap(({ run, isNew }) => (run === undefined || isNew !== true ? [] : [run])),
    faults: each.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
  };
}

function goneWhy({ lives, open }: Standing, id: string, isOff: boolean): string {
  const words = isOff ? 'it is switched off' : 'its document is gone';
  if (lives.get(id)?.finished !== undefined) return `${words}; it had finished`;
  const rest = open.has(id) ? '; what is open ends without a further order' : '';
  return `${words}${rest}; the same text goes on where it was`;
}

interface One {
  readonly change?: Change;
  readonly run?: StrategySource;
  readonly isNew?: boolean;
  readonly fault?: string;
}

function planOne(standing: Standing, source: StrategySource): One {
  const { id, hash } = source;
  const life = standing.lives.get(id);
  const isRunning = standing.running.has(id);
  if (life === undefined)
    return { change: { strategy: id, what: 'begins', to: hash }, run: source, isNew: true };
  if (life.hash === hash) {
    if (isRunning) return { run: source };
    const what = life.finished === undefined ? 'goes_on' : 'over';
    return { change: { strategy: id, what, to: hash }, run: source };
  }
  const change = { strategy: id, from: life.hash, to: hash };
  if (life.finished !== undefined) return { change: { ...change, what: 'begins' }, run: source, isNew: true };
  const kept = standing.running.get(id);
  const run = kept?.hash === life.hash ? kept : standing.revive(life);
  // The old text says whether it may be cut short here. One that no longer can be read is judged as its kind.
  const old = run ?? (source.kind === life.type ? source : undefined);
  const isFree = life.state === undefined || old?.bound.isReplaceable(life.state) === true;
  if (isFree && !standing.open.has(id))
    return { change: { ...change, what: 'replaces' }, run: source, isNew: true };
  if (run !== undefined) return { change: { ...change, what: 'kept', why: isFree ? OPEN : KEPT }, run };
  return {
    fault: `strategy ${id} was edited while its parent is running. Put the old text back, or give the new one another id`,
  };
}

const DIFFERENCES_MAX = 20;
const VALUE_MAX = 60;

/** What differs between two documents, a line each: `slices: 4 → 6`. */
export function differences(before: unknown, now: unknown): readonly string[] {
  const lines = [...compared(before, now, '')];
  const more = lines.length - DIFFERENCES_MAX;
  return more > 0 ? [...lines.slice(0, DIFFERENCES_MAX), `and ${more} more`] : lines;
}

function* compared(before: unknown, now: unknown, path: string): Iterable<string> {
  if (isGroup(before) && isGroup(now)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(now)]);
    for (const key of keys) yield* compared(before[key], now[key], path === '' ? key : `${path}.${key}`);
  } else if (shown(before) !== shown(now) || !isSame(before, now)) {
    yield `${path}: ${shown(before)} → ${shown(now)}`;
  }
}

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function shown(value: unknown): string {
  if (value === undefined) return '(nothing)';
  if (typeof value === 'string' && value.includes('\n')) return `(${value.split('\n').length} lines)`;
  const words = typeof value === 'string' ? value : JSON.stringify(value);
  return words.length > VALUE_MAX ? `${words.slice(0, VALUE_MAX)}…` : words;
}
