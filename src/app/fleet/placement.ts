/** A desk of the store, as all daemons see it. */
export interface PlacedDesk {
  readonly desk: string;
  /** The daemon that runs it; `undefined` if no daemon has claimed it. */
  readonly daemon: string | undefined;
  /** Whether an owner holds its lease, and so may trade it. */
  readonly isLeased: boolean;
  readonly epoch: number;
  /** The newest request to move it. */
  readonly move: { readonly to: string; readonly epoch: number } | undefined;
  /** Version of tranche that ran it last. An older version may not be able to read the desk's records. */
  readonly program: string;
}

export interface PlacedDaemon {
  readonly daemon: string;
  /** Largest number of desks that it runs. */
  readonly capacity: number;
  /** Whether its last heartbeat is recent. */
  readonly isAlive: boolean;
  readonly isDraining: boolean;
  /** Version of tranche. */
  readonly program: string;
}

export interface Placement {
  readonly take: readonly string[];
  readonly release: readonly string[];
}

/**
 * Decides which desks a daemon takes and which it releases. Each daemon decides for itself from the same rows: the store admits one of two
 * claims, and the lease one of two processes. A desk is free if it has no lease and its daemon, if any, is silent. No desk goes to an older
 * version of tranche than the one that ran it last.
 */
export function placement(
  me: string,
  desks: readonly PlacedDesk[],
  daemons: readonly PlacedDaemon[],
): Placement {
  const working = new Map(
    daemons.filter((one) => one.isAlive && !one.isDraining).map((one) => [one.daemon, one]),
  );
  const sorted = desks.toSorted((a, b) => (a.desk < b.desk ? -1 : 1));
  const mine = sorted.filter(({ daemon }) => daemon === me);
  if (!working.has(me)) return { take: [], release: mine.map(({ desk }) => desk) };

  const alive = new Set(daemons.filter((one) => one.isAlive).map((one) => one.daemon));
  const load = new Map([...working.keys()].map((daemon) => [daemon, 0]));
  const free: PlacedDesk[] = [];
  for (const one of sorted) {
    if (one.daemon !== undefined && alive.has(one.daemon)) raise(load, one.daemon);
    else if (!one.isLeased) free.push(one);
  }

  const take: string[] = [];
  for (const one of free) {
    const { desk, move } = one;
    const to =
      move !== undefined && canTake(working, load, move.to, one) ? move.to : leastLoaded(working, load, one);
    if (to === undefined) continue;
    raise(load, to);
    if (to === me) take.push(desk);
  }

  const moved = mine.filter((one) => {
    const { move, epoch } = one;
    return (
      move !== undefined && move.to !== me && move.epoch === epoch && canTake(working, load, move.to, one)
    );
  });
  const release = moved.length > 0 ? moved : toSpread(me, mine, load, working);
  return { take, release: release.map(({ desk }) => desk) };
}

/** Returns the desk to release to a daemon with less load: at most one at a time, and none that a person moved here. */
function toSpread(
  me: string,
  mine: readonly PlacedDesk[],
  load: ReadonlyMap<string, number>,
  working: ReadonlyMap<string, PlacedDaemon>,
): readonly PlacedDesk[] {
  const last = mine.findLast((one) => {
    if (one.move?.to === me) return false;
    const to = leastLoaded(working, load, one);
    return to !== undefined && (load.get(me) ?? 0) - (load.get(to) ?? 0) > 1;
  });
  return last === undefined ? [] : [last];
}

function leastLoaded(
  working: ReadonlyMap<string, PlacedDaemon>,
  load: ReadonlyMap<string, number>,
  desk: PlacedDesk,
): string | undefined {
  return [...working.keys()]
    .filter((daemon) => canTake(working, load, daemon, desk))
    .toSorted((a, b) => (load.get(a) ?? 0) - (load.get(b) ?? 0) || (a < b ? -1 : 1))[0];
}

/** Returns whether the daemon works, has capacity, and has a version that can read the desk's records. */
function canTake(
  working: ReadonlyMap<string, PlacedDaemon>,
  load: ReadonlyMap<string, number>,
  daemon: string,
  desk: PlacedDesk,
): boolean {
  const one = working.get(daemon);
  return one !== undefined && (load.get(daemon) ?? 0) < one.capacity && isAtLeast(one.program, desk.program);
}

/** Returns whether a version such as 0.10.2 is at least another, compared by numbers. */
export const isAtLeast = (program: string, other: string): boolean =>
  program.localeCompare(other, 'en', { numeric: true }) >= 0;

function raise(load: Map<string, number>, daemon: string): void {
  load.set(daemon, (load.get(daemon) ?? 0) + 1);
}
