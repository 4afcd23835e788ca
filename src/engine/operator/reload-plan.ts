import type { StrategyRun } from '../state/strategy-run.ts';
import type { Wish } from './proposals.ts';
import type { Verdict } from './reload-approvals.ts';
import type { BegunDocument, StrategySource } from '../state/strategy-source.ts';

/** The effect of a change of the files on one strategy. */
export interface Change {
  readonly strategy: string;
  /**
   * `begins`: a new run starts. `goes_on`: a stopped run resumes. `replaces`: a new run replaces the running one. `stops`: the
   * run stops. `kept`: refused, the run keeps its document. `over`: the run has ended, and the same document never starts
   * again. `waits`: the document needs approval first.
   */
  readonly what: 'begins' | 'goes_on' | 'replaces' | 'stops' | 'kept' | 'over' | 'waits';
  /** Hash of the document that ran or started last. */
  readonly from?: string | undefined;
  /** Hash of the text in the file. */
  readonly to?: string | undefined;
  /** For people. */
  readonly why?: string | undefined;
}

export interface Planned {
  readonly changes: readonly Change[];
  /** The strategies that run after the change. */
  readonly run: readonly StrategySource[];
  /** The strategies in `run` that start a new run. */
  readonly begin: readonly StrategySource[];
  /** Why running strategies cannot keep their documents. If there is a fault, the whole change is refused. */
  readonly faults: readonly string[];
  /** Approvals to request first. */
  readonly wishes: readonly Wish[];
  /** Approved requests that this reload carries out. */
  readonly approvals: readonly string[];
}

/** Input of the plan. */
export interface Standing {
  /** The strategies that run now. */
  readonly running: ReadonlyMap<string, StrategySource>;
  readonly lives: ReadonlyMap<string, StrategyRun>;
  /** Strategies with open slices. */
  readonly open: ReadonlySet<string>;
  /** Returns the source that a run started from; `undefined` if this version cannot read its document. */
  revive(begun: BegunDocument): StrategySource | undefined;
  /** Whether a document that has not run may start. */
  approval(source: StrategySource): Verdict;
}

const KEPT =
  'its parent is running and keeps the text it started with; give the new text another id, or wait until the parent ends';
const OPEN = 'a slice is open: reload again when it has ended';

/** Returns what would run, and what would start, with these files. */
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
    wishes: each.flatMap(({ wish }) => (wish === undefined ? [] : [wish])),
    approvals: each.flatMap(({ approval }) => (approval === undefined ? [] : [approval])),
  };
}

function goneWhy({ lives, open }: Standing, id: string, isOff: boolean): string {
  const words = isOff ? 'it is switched off' : 'its document is gone';
  if (lives.get(id)?.finished !== undefined) return `${words}; it had finished`;
  const rest = open.has(id) ? '; open slices end without another order' : '';
  return `${words}${rest}; the same text resumes where it stopped`;
}

interface One {
  readonly change?: Change;
  readonly run?: StrategySource;
  readonly isNew?: boolean;
  readonly fault?: string;
  readonly wish?: Wish | undefined;
  readonly approval?: string | undefined;
}

/** A document that has not run starts, or waits for approval while the previous one continues. */
function beginning(desk: Standing, source: StrategySource, change: Change, kept?: StrategySource): One {
  const { why, wish, approval } = desk.approval(source);
  if (why === undefined) return { change, run: source, isNew: true, approval };
  return { change: { ...change, what: 'waits', why }, wish, ...(kept === undefined ? {} : { run: kept }) };
}

function planOne(standing: Standing, source: StrategySource): One {
  const { id, hash } = source;
  const life = standing.lives.get(id);
  const isRunning = standing.running.has(id);
  if (life === undefined) return beginning(standing, source, { strategy: id, what: 'begins', to: hash });
  if (life.hash === hash) {
    if (isRunning) return { run: source };
    const what = life.finished === undefined ? 'goes_on' : 'over';
    return { change: { strategy: id, what, to: hash }, run: source };
  }
  const change = { strategy: id, from: life.hash, to: hash };
  if (life.finished !== undefined) return beginning(standing, source, { ...change, what: 'begins' });
  const kept = standing.running.get(id);
  const run = kept?.hash === life.hash ? kept : standing.revive(life);
  // The old document decides whether the run may be cut short here. If this version cannot read the old document, a new
  // document of the same kind decides.
  const old = run ?? (source.kind === life.type ? source : undefined);
  const isFree = life.state === undefined || old?.bound.isReplaceable(life.state) === true;
  if (isFree && !standing.open.has(id))
    return beginning(standing, source, { ...change, what: 'replaces' }, run);
  if (run !== undefined) return { change: { ...change, what: 'kept', why: isFree ? OPEN : KEPT }, run };
  return {
    fault: `strategy ${id} was edited while its parent is running. Put the old text back, or give the new one another id`,
  };
}
