import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import process from 'node:process';
import { OperatorError } from '../../core/errors.ts';
import { readPostgresUrl, withDesk } from '../../journal/postgres/postgres-url.ts';
import { Refusal } from '../../operate/api/refusal.ts';
import type { FleetPort } from '../../operate/fleet/fleet-api.ts';
import { createFleetMetrics } from '../../operate/fleet/fleet-metrics.ts';
import { isLoopbackName, pageUrls, parseListen } from '../../operate/listen.ts';
import { startOperate } from '../../operate/server.ts';
import type { Operate } from '../../operate/server.ts';
import type { PeopleDesk } from '../../operate/sign-in/people-desk.ts';
import { signInOf } from '../../operate/sign-in/sign-in.ts';
import { Secret } from '../config/secret.ts';
import { systemClock } from '../daemon/clock.ts';
import { writeControlFile } from '../daemon/control-file.ts';
import { LOOPBACK, MACHINE, PAGES, bearersOf, identityOf } from '../daemon/serve.ts';
import { version } from '../version.ts';
import { sendAndWait } from './ask-store.ts';
import { CommandStore, HALT } from './command-store.ts';
import { roleOnDesk } from './fleet-roles.ts';
import type { FleetSettings } from './fleet-settings.ts';
import { seenDesks } from './fleet-view.ts';
import { firmLimitRows, readFirmUse } from './limits/firm-limits.ts';
import { StoreSession } from './store-session.ts';

export interface FleetToServe {
  /** URL of the store. */
  readonly store: string;
  /** Name of this daemon. */
  readonly daemon: string;
  /** Folder on this machine for the files of its desks. */
  readonly folder: string;
  /** Returns why the daemon is not ready; empty if it is. */
  readonly ready: () => readonly string[];
  readonly warn: (line: string) => void;
}

/** Shortest time between two reads of the store, regardless of the number of viewers. */
const FRESH_MS = 1_000;
/** Shortest time between two warnings about refused callers. */
const REFUSED_MS = 10_000;

/** Name of the control file, beside the desks' folders, through which commands on this machine find the daemon. */
export const controlOf = 'fleet';

/** Serves health, metrics, the API and the pages of all desks of the store. @throws OperatorError as `startOperate` does */
export async function serveFleet(settings: FleetSettings, served: FleetToServe): Promise<Operate> {
  const session = new StoreSession(readPostgresUrl(withDesk(served.store, 'main')).connectionString);
  const fleet = portOf(settings, served, session);
  const metrics = createFleetMetrics(served.daemon);
  const local = new Secret(newSecret());
  const now = () => systemClock.monotonic();
  const signIn = signInOf({ people: NOBODY, now, wall: () => systemClock.wall(), newSecret });
  const { operate } = settings;
  const bearers = [
    { name: MACHINE, role: 'admin', kind: 'machine', token: local } as const,
    ...bearersOf(operate.tokens),
  ];
  const listen = async (over: object = {}): Promise<Operate> =>
    await startOperate({
      ...operate,
      tls: identityOf(operate.tls),
      version,
      metrics: {
        contentType: metrics.contentType,
        async text() {
          const limits = await fleet.limits().catch(() => undefined);
          metrics.show(await fleet.desks().catch(() => undefined), limits);
          return await metrics.text();
        },
      },
      pages: PAGES,
      fleetApi: { fleet, bearers, signIn, now },
      ready: served.ready,
      ...over,
    });
  const server = await listen();
  // Commands on this machine have no certificate and know none of its network names.
  const isLocal = operate.tls === undefined && isLoopbackName(parseListen(operate.listen).host);
  const own = isLocal ? server : await listen(LOOPBACK);
  Object.assign(signIn, pageUrls(server.url, operate));
  const control = { url: own.url, token: local.reveal(), pid: process.pid, desk: served.daemon };
  const forget = writeControlFile(`sqlite:${join(served.folder, controlOf)}`, control);
  return {
    url: server.url,
    async close() {
      forget();
      await server.close();
      if (own !== server) await own.close();
      await session.close().catch(() => undefined);
    },
  };
}

const newSecret = (): string => randomBytes(32).toString('base64url');

/** A fleet has no people, because passkeys belong to a desk. A fleet accepts only tokens and the daemon's own machine. */
const NOBODY: PeopleDesk = {
  get: () => undefined,
  all: () => [],
  ownerOf: () => undefined,
  record: () => ({
    isDone: false,
    says: 'a fleet has no invitations: give the person a token in the file of --settings',
  }),
};

function portOf(settings: FleetSettings, { daemon, warn }: FleetToServe, session: StoreSession): FleetPort {
  let kept: { readonly at: number; readonly desks: ReturnType<typeof seenDesks> } | undefined;
  let limits: { readonly at: number; readonly use: ReturnType<typeof readFirmUse> } | undefined;
  const commands = new CommandStore(session);
  let refusedAt = Number.NEGATIVE_INFINITY;
  return {
    daemon,
    async desks() {
      const now = systemClock.monotonic();
      if (kept === undefined || now - kept.at > FRESH_MS) kept = { at: now, desks: seenDesks(session) };
      try {
        return (await kept.desks).map(({ row }) => ({ ...row, groups: groupsOf(settings, row.name) }));
      } catch (error) {
        throw new Refusal(503, error instanceof Error ? error.message : String(error));
      }
    },
    async limits() {
      const now = systemClock.monotonic();
      if (limits === undefined || now - limits.at > FRESH_MS) limits = { at: now, use: readFirmUse(session) };
      try {
        return firmLimitRows(await limits.use);
      } catch (error) {
        throw new Refusal(503, error instanceof Error ? error.message : String(error));
      }
    },
    async command({ desk, path, body, caller: { name, kind, role } }) {
      const holds = path === HALT ? 'standing' : 'addressed';
      try {
        const answer = await sendAndWait(commands, { desk, path, body, holds, caller: { name, kind, role } });
        kept = undefined;
        return { status: answer.status, body: JSON.stringify(answer.body) };
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        throw new Refusal(error.exit === 'unavailable' ? 409 : 503, error.message);
      }
    },
    roleOn: (caller, desk) => roleOnDesk(settings, caller, desk),
    refused({ path, by, role, needed }) {
      const now = systemClock.monotonic();
      if (now - refusedAt < REFUSED_MS) return;
      refusedAt = now;
      warn(
        `refused ${by} with ${role === undefined ? 'no role' : `the ${role} role`} at ${path}, which needs ${needed}`,
      );
    },
  };
}

const groupsOf = ({ groups }: FleetSettings, desk: string): readonly string[] =>
  [...groups].flatMap(([group, desks]) => (desks.includes(desk) ? [group] : []));
