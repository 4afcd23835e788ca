import type { Desk } from '../../engine/desk.ts';
import { isoOf } from '../../core/time.ts';
import { haltNote } from '../../engine/operator/operator-commands.ts';
import type { Command } from '../../engine/ports.ts';
import type { Journal } from '../../journal/journal.ts';
import { readPostgresUrl } from '../../journal/postgres/postgres-url.ts';
import type { Config } from '../config/config.ts';
import type { AlertHistory } from '../daemon/open-alerts.ts';
import { notReady } from '../daemon/readiness.ts';
import { deskApi } from '../desk-api/desk-api.ts';
import { idleUntil, isWatchedOutside } from './hibernation/idle-until.ts';

export interface DeskToLink {
  readonly journal: Journal;
  readonly desk: Desk;
  readonly alerts: AlertHistory;
  readonly isReady: () => boolean;
  /** Returns the URL of the desk's API, or `undefined` if the desk serves no API or does not serve it yet. */
  readonly url: () => string | undefined;
  readonly command: (command: Command) => void;
  readonly warn: (why: string) => void;
}

/**
 * Makes a desk whose journal is in PostgreSQL obey the commands in the store. When the promise resolves, halts that
 * waited there are in force. Returns the function that ends the link. Does nothing for other journals.
 *
 * @throws OperatorError `storage`: the store cannot be read.
 */
export async function linkDesk(
  config: Config,
  { journal, desk, alerts, isReady, url, command, warn }: DeskToLink,
): Promise<() => Promise<void>> {
  const { lease } = journal;
  if (lease === undefined) return async () => {}; // prettier-ignore
  const { commandGate } = await import('../../operate/api/command-gate.ts');
  const { linkToStore } = await import('./store-link.ts');
  const operated = deskApi(desk, command, alerts);
  const idle = (): string | null => {
    const until = isReady() && !isWatchedOutside(config) ? idleUntil(desk, alerts) : undefined;
    return until === undefined ? null : isoOf(until);
  };
  const execute = await commandGate({
    desk: operated,
    bearers: config.operate?.tokens ?? [],
    isPerson: (name) => desk.state.people.get(name) !== undefined,
  });
  return await linkToStore(readPostgresUrl(config.journal).connectionString, {
    desk: lease.desk,
    epoch: lease.epoch,
    execute,
    isReady,
    isHaltNoted: () => haltNote(desk) === undefined,
    standing: () =>
      JSON.stringify([
        desk.control,
        isReady() && notReady(desk),
        idle() === null,
        desk.state.fills,
        desk.state.doubts.length,
        alerts.open(desk).length,
      ]),
    report: () => ({
      status: { ...operated.status() },
      doubts: operated.doubts(),
      head: journal.head().seq,
      url: url() ?? null,
      idle_until: idle(),
    }),
    warn,
  });
}
