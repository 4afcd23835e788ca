import { OperatorError, exitCodes } from '../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../core/text/escape.ts';
import { readPostgresUrl, withDesk } from '../../journal/postgres/postgres-url.ts';
import { totalsOf } from '../../operate/fleet/totals.ts';
import { whoami } from '../commands/io.ts';
import type { CommandIo } from '../commands/io.ts';
import { validate } from '../commands/validate.ts';
import { loadConfig, readConfig } from '../config/config.ts';
import { changedLines, hashOf, readDeskFiles } from './desk-files.ts';
import { FleetStore } from './fleet-store.ts';
import { statusLines } from './fleet-text.ts';
import { FirmLimitsStore } from './limits/firm-limits.ts';
import type { FirmUse } from './limits/firm-limits.ts';
import { limitLines } from './limits/limits-command.ts';
import { isAtLeast } from './placement.ts';

export interface FleetCommandOptions {
  readonly store: string;
  readonly why?: string | undefined;
  readonly json?: boolean | undefined;
}

export interface PutOptions extends FleetCommandOptions {
  readonly config: string;
  /** Files that the strategies name, such as modules and profiles. */
  readonly file: readonly string[];
  readonly by?: string | undefined;
}

async function withStore<T>(url: string, use: (store: FleetStore) => Promise<T>): Promise<T> {
  const store = new FleetStore(url);
  try {
    await store.check();
    return await use(store);
  } finally {
    await store.close().catch(() => undefined);
  }
}

/** Stores the config and strategies of a desk as its next version. Returns the exit code: 0, 75, or 78 as `validate` does. */
export async function fleetPut(desk: string, options: PutOptions, io: CommandIo): Promise<number> {
  const { desk: checked } = readPostgresUrl(withDesk(options.store, desk));
  if (checked !== desk) throw new OperatorError('usage', 'the URL of a fleet must not name a desk');
  const code = validate({ config: options.config }, io);
  if (code !== 0) return code;
  const settings = { env: io.env, cwd: io.cwd, now: io.now };
  const { config } = loadConfig(options.config, settings);
  if (config.desk !== desk)
    throw new OperatorError(
      'config',
      `the config belongs to desk ${config.desk}, not to ${desk}: set desk: ${desk}`,
    );
  if (config.mode !== 'paper' && config.venue.tokenSource === 'config')
    throw new OperatorError(
      'config',
      'the config contains a token, which must not be in the store: use venue.token_file',
    );
  const { strategyFiles } = readConfig(options.config, settings);
  const files = readDeskFiles(options.config, [...strategyFiles, ...options.file]);
  const hash = hashOf(files);
  return await withStore(options.store, async (store) => {
    const before = await store.newest(desk);
    if (before?.hash === hash) {
      io.stderr.write(`desk ${desk} already has these files, as version ${before.version}\n`);
      return 0;
    }
    for (const line of before === undefined ? [] : changedLines(before.files, files))
      io.stderr.write(`${forTerminal(line)}\n`);
    const version = before?.version ?? 0;
    const why = options.why ?? 'tranche fleet put';
    if (!(await store.put(desk, { before: version, files, hash, why, person: options.by ?? whoami(io) })))
      throw new OperatorError(
        'again',
        `somebody else has stored version ${version + 1} of desk ${desk}: review it, then run this command again`,
      );
    io.stderr.write(`desk ${desk} has version ${version + 1}; the daemon that runs it reloads it\n`);
    return 0;
  });
}

/** Prints the daemons and desks of the store. */
export async function fleetList({ store: url, json }: FleetCommandOptions, io: CommandIo): Promise<void> {
  await withStore(url, async (store) => {
    const [daemons, desks] = [await store.daemons(), await store.desks()];
    if (json === true) {
      io.stdout.write(`${escapeMarks(JSON.stringify({ daemons, desks }))}\n`);
      return;
    }
    for (const { daemon, host, capacity, isAlive, isDraining, program } of daemons) {
      const state = isAlive ? (isDraining ? 'draining' : 'alive') : 'silent';
      const count = desks.filter((one) => one.daemon === daemon).length;
      io.stdout.write(
        `${forTerminal(`daemon ${daemon}  ${state}  ${count} of ${capacity} desks  on ${host}  tranche ${program}`)}\n`,
      );
    }
    for (const { desk, daemon, version, epoch, owner, hibernatesS = 0 } of desks)
      io.stdout.write(
        `${forTerminal(`desk ${desk}  version ${version}  epoch ${epoch}  at ${daemon ?? 'no daemon'}  ${owner !== undefined ? `leased to ${owner}` : hibernatesS > 0 ? 'hibernates' : 'no lease'}`)}\n`,
      );
  });
}

/** Prints the state of every desk in the store. Returns the exit code: 0, or 75 with `exitCode` if a desk cannot trade now. */
export async function fleetStatus(
  { store: url, json, exitCode }: FleetCommandOptions & { readonly exitCode?: boolean | undefined },
  io: CommandIo,
): Promise<number> {
  return await withStore(url, async (store) => {
    const items = (await store.seen()).map(({ row }) => row);
    const totals = totalsOf(items);
    const limits = await firmLimits(url);
    if (json === true) io.stdout.write(`${escapeMarks(JSON.stringify({ items, totals, limits }))}\n`);
    else
      for (const line of [...statusLines(items, totals), ...(limits.length === 0 ? [] : limitLines(limits))])
        io.stdout.write(`${forTerminal(line)}\n`);
    const isStuck = items.some(({ not_ready: reasons }) => reasons.length > 0);
    return exitCode === true && isStuck ? exitCodes.again : 0;
  });
}

async function firmLimits(url: string): Promise<readonly FirmUse[]> {
  const store = new FirmLimitsStore(url);
  try {
    return await store.read();
  } finally {
    await store.close().catch(() => undefined);
  }
}

/** Requests the move of a desk to another daemon. */
export async function fleetMove(
  desk: string,
  { store: url, to, why = 'tranche fleet move' }: FleetCommandOptions & { readonly to: string },
  io: CommandIo,
): Promise<void> {
  await withStore(url, async (store) => {
    const [desks, daemons] = [await store.desks(), await store.daemons()];
    const found = desks.find((one) => one.desk === desk);
    if (found === undefined)
      throw new OperatorError('usage', `the store has no desk ${desk}: see tranche fleet list`);
    const target = daemons.find((one) => one.daemon === to && one.isAlive && !one.isDraining);
    if (target === undefined)
      throw new OperatorError(
        'usage',
        `daemon ${to} is not running, or is draining: see "tranche fleet list"`,
      );
    if (!isAtLeast(target.program, found.program))
      throw new OperatorError(
        'usage',
        `daemon ${to} runs tranche ${target.program}, and desk ${desk} was last run by ${found.program}: upgrade the daemon first`,
      );
    await store.move(desk, { epoch: found.epoch, to, why });
    io.stderr.write(`desk ${desk} moves to ${to} once its orders in flight have ended\n`);
  });
}

/** Asks a daemon to hand over its desks and exit. */
export async function fleetDrain(
  daemon: string,
  { store: url, why = 'tranche fleet drain' }: FleetCommandOptions,
  io: CommandIo,
): Promise<void> {
  await withStore(url, async (store) => {
    const daemons = await store.daemons();
    if (!daemons.some((one) => one.daemon === daemon && one.isAlive))
      throw new OperatorError('usage', `no daemon named ${daemon} is running: see "tranche fleet list"`);
    await store.drain(daemon, why);
    io.stderr.write(`daemon ${daemon} hands over its desks and stops\n`);
  });
}
