import type { Import } from './tokens.ts';

/** One part of the house: a folder under `src`. */
export interface Room {
  /** Parts, or single files of parts, that it may import besides itself. */
  readonly parts: readonly string[];
  /** Packages and Node's own modules that it may import, each with the files that may; `*` is all of them. */
  readonly packages: Readonly<Record<string, readonly string[]>> | '*';
}

const anywhere = ['*'];
/** Around the pure exchange: where the simulated venue meets streams and sockets. */
const simulatorEdge = [
  'http/server.ts',
  'http/route.ts',
  'http/routes.ts',
  'http/routes-orders.ts',
  'http/routes-money.ts',
  'http/routes-pts.ts',
  'feeds/feeds.ts',
  'port.ts',
  'venue.ts',
  'http/admin.ts',
  'serving.ts',
  'http/deliver.ts',
  'http/strict-request.ts',
];

/** The architecture. Imports only go down this list; what is not written here is not allowed. */
export const rooms: Readonly<Record<string, Room>> = {
  // Chooses and wires; alone knows the mode and the command line.
  app: {
    parts: ['operate', 'research', 'simulator', 'venue', 'journal', 'report', 'planning', 'engine', 'strategy', 'wire', 'core', 'files'],
    packages: '*',
  },
  // The face of the daemon: metrics, health, log.
  operate: {
    parts: ['core', 'engine/ports.ts', 'engine/observer.ts', 'report'],
    packages: { 'node:https': ['server.ts'], 'node:net': ['turns.ts', 'connections.ts'],
      fastify: ['server.ts', 'standby.ts', 'pages.ts', 'sign-in/routes.ts', 'sign-in/people-routes.ts', 'sign-in/browser.ts', 'api/api.ts', 'api/caller.ts', 'api/commands.ts', 'api/reads.ts'],
      zod: ['sign-in/sign-in-schemas.ts', 'api/openapi.ts', 'api/input.ts', 'api/commands.ts', 'api/desk-reads.ts', 'api/routes.ts', 'api/schema-parts.ts', 'api/schema-desk.ts', 'api/schema-journal.ts', 'api/schema-approvals.ts', 'api/schema-commands.ts'],
      '@simplewebauthn/server': ['sign-in/passkeys.ts'], 'node:crypto': ['access.ts', 'sign-in/secrets.ts'], 'node:http': ['events.ts', 'server.ts', 'turns.ts', 'connections.ts'], 'prom-client': ['metrics.ts', 'meters.ts', 'standby.ts'], pino: ['log.ts'], 'node:perf_hooks': ['metrics.ts'],
      'node:process': ['metrics.ts', 'log.ts'], 'node:fs/promises': ['pages.ts'], 'node:fs': ['log.ts', 'descriptors.ts'], 'node:path': ['log.ts', 'pages.ts'], rxjs: ['descriptors.ts', 'alert-records.ts', 'notify/notifier.ts'],
    },
  },
  // The program of the browser: it knows the desk by its API alone, of which it imports the types.
  'operate/dashboard': {
    parts: ['operate/api/schema-approvals.ts', 'operate/api/schema-desk.ts', 'operate/api/schema-journal.ts', 'report/json/schema.ts'],
    packages: { zod: ['data/shapes.ts'], preact: anywhere, 'preact/hooks': anywhere, '@preact/signals': anywhere, uplot: anywhere },
  },
  // What a desk will do: its own pipeline on virtual time over constant prices, and what it recorded, in words.
  planning: { parts: ['core', 'engine', 'strategy', 'simulator', 'research', 'journal/backtest-journal.ts'], packages: {} },
  // Backtests: tapes and their importers, the runner, sweeps, calibration.
  research: {
    parts: ['core', 'engine', 'strategy', 'simulator', 'files'],
    packages: { rxjs: anywhere, zod: anywhere, 'node:fs': anywhere, 'node:fs/promises': anywhere, 'node:path': anywhere, 'node:zlib': anywhere, 'node:vm': ['tape/arrow-file.ts'], hyparquet: ['import/parquet.ts'], 'hyparquet/src/column.js': ['import/parquet.ts'], '@uwdata/flechette': ['tape/arrow-file.ts'], 'node:crypto': ['tape/tape.ts', 'tape/store.ts', 'import/read.ts'] },
  },
  // The venue, simulated: a pure exchange and a server around it.
  simulator: {
    parts: ['core', 'wire', 'engine/ports.ts', 'engine/maybe-async.ts'],
    packages: {
      rxjs: simulatorEdge, zod: ['options/options.ts', 'options/options-parts.ts', 'options/options-feeds.ts',
      'options/options-booking.ts', 'options/options-lists.ts', 'faults/faults.ts', ...simulatorEdge], fastify: ['http/server.ts', 'http/routes.ts'], ws: ['feeds/feeds.ts'],
      'node:http': simulatorEdge, 'node:buffer': ['http/server.ts'], 'node:net': simulatorEdge, 'node:stream': simulatorEdge, 'node:crypto': ['exchange/quotes.ts'],
    },
  },
  // The venue, for real.
  venue: {
    parts: ['core', 'wire', 'engine/ports.ts', 'engine/maybe-async.ts'],
    packages: { rxjs: anywhere, zod: anywhere, undici: anywhere, ws: ['socket.ts'], 'node:buffer': anywhere, 'node:stream': anywhere, 'node:http': ['socket.ts'], 'node:net': ['origin.ts', 'proxy.ts'], 'node:dns': ['origin.ts'], 'node:tls': ['certificate.ts'] },
  },
  // Records, hash chain, drivers, exports.
  journal: {
    parts: ['core', 'engine/ports.ts', 'engine/owner/lease-port.ts', 'engine/owner/renewals.ts', 'files'],
    packages: { rxjs: anywhere, zod: ['format/record-schema.ts'], 'node:sqlite': anywhere, 'node:crypto': ['proof/link.ts', 'proof/signed-head.ts'], 'node:fs': anywhere, 'node:path': anywhere, 'node:url': ['sqlite/sqlite.ts'], 'node:worker_threads': ['proof/proof.ts', 'proof/proof-worker.ts', 'postgres/blocking-client.ts', 'postgres/blocking-client-worker.ts'], pg: ['postgres/connection.ts', 'postgres/server-session.ts', 'postgres/blocking-client-worker.ts'], 'node:os': anywhere, 'node:process': anywhere },
  },
  // Transaction cost analysis and portfolio figures; pure. The shape of report.json is a published interface, like those of wire.
  report: { parts: ['core'], packages: { zod: ['json/schema.ts', 'json/schema-parts.ts', 'json/schema-portfolio.ts', 'json/schema-parents.ts', 'json/schema-oversight.ts'] } },
  // The pipeline: order, time, concurrency; no I/O. Kernels are known by their shape alone.
  engine: { parts: ['core', 'strategy/kernel.ts'], packages: { rxjs: anywhere } },
  // Kernels: one pure function a file, and the registry.
  strategy: { parts: ['core'], packages: { zod: anywhere, croner: ['calendar/schedule.ts'] } },
  // The venue's interface as schemas; client and simulator share it.
  wire: { parts: ['core'], packages: { zod: anywhere } },
  // The one way to read a file that somebody configured, and who may change it.
  files: { parts: [], packages: { 'node:fs': anywhere, 'node:path': anywhere } },
  // Words and rules; no I/O, clock, randomness or rxjs. A record's schema is its type.
  core: { parts: [], packages: { zod: ['record.ts', 'record-fields.ts', 'wake.ts', 'risk/tactics.ts'], 'node:crypto': ['ids.ts', 'approvals/passkey-assertion.ts'], 'decimal.js': ['money.ts'] } },
}; // prettier-ignore

/** Name of the part that `file` (`src/core/money.ts`) belongs to. Files right under `src` start the program: `app`. */
export function roomOf(file: string): string {
  if (file.startsWith('src/operate/dashboard/')) return 'operate/dashboard';
  const [, folder, ...rest] = file.split('/');
  return rest.length === 0 || folder === undefined ? 'app' : folder;
}

/** `./x.ts` as seen from `file`, from the root of the repository. */
export function resolve(file: string, relative: string): string {
  const path = file.split('/').slice(0, -1);
  for (const step of relative.split('/')) {
    if (step === '..') path.pop();
    else if (step !== '.') path.push(step);
  }
  return path.join('/');
}

/** Why `file` may not import this, in words that say what to do; `undefined` when it may. */
export function importProblem(file: string, { from }: Import): string | undefined {
  const name = roomOf(file);
  const room = rooms[name];
  if (room === undefined)
    return `src/${name} is not a part of the house: add it to the table in test/house/rooms.ts`;
  if (from === undefined) {
    return name === 'app'
      ? undefined
      : 'import() of what is not a literal: only src/app loads modules by a name from outside';
  }
  if (!from.startsWith('.')) return packageProblem(file, name, room, from);
  const target = resolve(file, from);
  if (!target.startsWith('src/'))
    return name === 'app' ? undefined : `${from} lies outside src: pass it in from src/app`;
  const part = roomOf(target);
  const inside = target.slice(`src/`.length);
  if (part === name || room.parts.includes(part) || room.parts.includes(inside)) return undefined;
  const may = room.parts.length === 0 ? 'nothing else' : `only ${room.parts.join(', ')}`;
  return `src/${name} may import ${may}, not ${inside}: move what both need down, or pass it in as a port`;
}

function packageProblem(file: string, name: string, room: Room, from: string): string | undefined {
  if (room.packages === '*') return undefined;
  const homes = room.packages[from];
  const own = file.slice(`src/${name}/`.length);
  if (homes !== undefined && (homes.includes('*') || homes.includes(own))) return undefined;
  const may =
    homes === undefined
      ? `src/${name} may not import it at all`
      : `in src/${name} only ${homes.join(', ')} may`;
  return `${from}: ${may}; pass in what you need as a port or a parameter`;
}
