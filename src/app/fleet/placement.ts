/** A desk of the store, as all daemons see it. */
export interface PlacedDesk {
  readonly desk: string;
  /** The daemon that starts it; undefined when none does. */
  readonly daemon: string | undefined;
  /** Somebody may trade it now. Only this decides whether another may start it. */
  readonly isLeased: boolean;
  readonly epoch: number;
  /** The newest command that moved it. */
  readonly move: { readonly to: string; readonly epoch: number } | undefined;
}

export interface PlacedDaemon {
  readonly daemon: string;
  /** Most desks that it runs. */
  readonly capacity: number;
  /** Its heartbeats come. */
  readonly isAlive: boolean;
  readonly isDraining: boolean;
}

export interface Placement {
  readonly take: readonly string[];
  readonly release: readonly string[];
}

/**
 * What one daemon takes and gives up. Every daemon works it out for itself from the same rows: a claim that two make is settled by the
 * store, and a desk that two start by its lease. A desk is free when no daemon has it, or when the daemon that had it is silent and
 * its lease has run out.
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
  for (const { desk, move } of free) {
    const to = move !== undefined && hasRoom(working, load, move.to) ? move.to : leastLoaded(working, load);
    if (to === undefined) break;
    raise(load, to);
    if (to === me) take.push(desk);
  }

  const moved = mine.filter(
    ({ move, epoch }) =>
      move !== undefined && move.to !== me && move.epoch === epoch && hasRoom(working, load, move.to),
  );
  const release = moved.length > 0 ? moved : toSpread(me, mine, load, working);
  return { take, release: release.map(({ desk }) => desk) };
}

/** At most one at a time, and none that a person has put here. */
function toSpread(
  me: string,
  mine: readonly PlacedDesk[],
  load: ReadonlyMap<string, number>,
  working: ReadonlyMap<string, PlacedDaemon>,
): readonly PlacedDesk[] {
  const to = leastLoaded(working, load);
  if (to === undefined) return [];
  const movable = mine.filter(({ move }) => move?.to !== me);
  const isUneven = (load.get(me) ?? 0) - (load.get(to) ?? 0) > 1;
  return isUneven ? movable.slice(-1) : [];
}

function leastLoaded(
  working: ReadonlyMap<string, PlacedDaemon>,
  load: ReadonlyMap<string, number>,
): string | undefined {
  return [...working.keys()]
    .filter((daemon) => hasRoom(working, load, daemon))
    .toSorted((a, b) => (load.get(a) ?? 0) - (load.get(b) ?? 0) || (a < b ? -1 : 1))[0];
}

const hasRoom = (
  working: ReadonlyMap<string, PlacedDaemon>,
  load: ReadonlyMap<string, number>,
  daemon: string,
): boolean => (load.get(daemon) ?? 0) < (working.get(daemon)?.capacity ?? 0);

function raise(load: Map<string, number>, daemon: string): void {
  load.set(daemon, (load.get(daemon) ?? 0) + 1);
}
