import { parseIso } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Clock } from '../../engine/ports.ts';
import { readPostgresUrl, withDesk } from '../../journal/postgres/postgres-url.ts';
import type { Probe } from '../../operate/watchman/probe.ts';
import { FleetStore } from '../fleet/fleet-store.ts';
import type { SeenDesk } from '../fleet/fleet-view.ts';

/** Result of one check of a desk. */
export interface DeskProbe {
  readonly name: string;
  readonly probe: Probe;
}

export interface StoreAsker {
  /** Checks the store and, if it answers, its desks. Never rejects, because a missing answer is a result. */
  ask(): Promise<readonly DeskProbe[]>;
  close(): Promise<void>;
}

/** Checks all desks of a fleet through its store. @throws OperatorError `config` for an unusable URL */
export function storeAsker(url: string, clock: Pick<Clock, 'wall'>): StoreAsker {
  const store = new FleetStore(url);
  // The name omits credentials and the desk.
  const name = readPostgresUrl(withDesk(url, 'main')).shown.replace(/^.* at /u, '');
  return {
    async ask() {
      try {
        await store.check();
        const desks = await store.seen();
        const at = clock.wall();
        return [{ name, probe: { at } }, ...desks.map((seen) => ({ name: seen.row.name, probe: { at, ...probeOf(seen) } }))];
      } catch (error) {
        const dead = error instanceof Error ? error.message : String(error);
        return [{ name, probe: { at: clock.wall(), dead } }];
      }
    },
    close: async () => {
      await store.close().catch(() => undefined);
    },
  };
} // prettier-ignore

function probeOf({ row, status }: SeenDesk): Omit<Probe, 'at'> {
  if (row.error !== undefined || status === undefined) return { dead: row.error ?? 'its status is unknown' };
  return {
    notReady: row.not_ready,
    status: {
      desk: row.name,
      mode: status.mode,
      state: status.state,
      // A hibernating desk has no reason to read its account.
      dataAgeS: row.hibernates_until === undefined ? status.account_read_age_s : undefined,
      recordAgeS: row.last_record_age_s,
      nextAt: nextOf(status),
      head: row.head,
      criticalAlerts: row.open_alerts
        .filter(({ severity }) => severity === 'critical')
        .map(({ alert, says }) => says ?? alert),
    },
  };
}

/** Returns the earliest time that a strategy waits for. */
function nextOf({ strategies }: NonNullable<SeenDesk['status']>): Instant | undefined {
  const times = strategies.flatMap(({ next_at: next, finished }) =>
    finished === undefined && next !== undefined ? (parseIso(next) ?? []) : [],
  );
  return times.length === 0 ? undefined : times.reduce((a, b) => (a < b ? a : b));
}
