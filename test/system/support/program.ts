import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { inject, onTestFailed, onTestFinished } from 'vitest';
import { guarded, overheard } from '../../custody/watch.ts';
import { until } from './until.ts';

/** The folder of the repository. */
export const ROOT = join(import.meta.dirname, '../../..');
const PROGRAM = join(ROOT, 'bin/tranche.js');

/** The program as slow tests build it; from its source where a hook looks at the files that are loaded. */
export const programFor = (imports: readonly string[]): string =>
  imports.some((hook) => /\/(?:early|mutant)\.ts/u.test(hook)) ? PROGRAM : (inject('program') ?? PROGRAM);

/** The oldest Node that runs the program without help. */
const OLDEST_MAJOR = 26;

/** How a process ended: by itself with a code, or by a signal. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One object of `--json` output. */
export type Event = Readonly<Record<string, unknown>>;

export interface ProgramOptions {
  /** Working folder: relative paths of the journal begin here. */
  readonly cwd: string;
  /** Variables besides those that every program gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than that of the repository, such as one that was installed. */
  readonly program?: string;
  /** Another Node than the one of the tests. */
  readonly node?: string;
  /** Number of the user that it runs as; only the superuser may choose one. */
  readonly uid?: number;
  /** Modules that are loaded before the program: `hooks/`. */
  readonly imports?: readonly string[];
  /** What to put before the command, such as the way into a name space. */
  readonly before?: readonly string[];
  /** Options of Node. */
  readonly flags?: readonly string[];
}

/** Code that Node compiled, for all processes of all runs: they would compile it again at each start. */
export const COMPILED = join(tmpdir(), `tranche-tests-${String(process.getuid?.() ?? '')}`);

/** Generous: the machine may be busy with other things. */
const PATIENCE_MS = 120_000;

/** A real process of `tranche`, with all that it has said. */
export class Program {
  /** Everything said on stdout so far. */
  stdout = '';
  /** Everything said on stderr so far. */
  stderr = '';
  readonly pid: number;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #closed: Promise<Ended>;
  #ended: Ended | undefined;

  constructor(child: ChildProcessByStdio<null, Readable, Readable>) {
    this.#child = child;
    this.pid = child.pid ?? 0;
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#closed = once(child, 'close').then((values): Ended => {
      const [code, signal] = values as [number | null, NodeJS.Signals | null];
      this.#ended = { code, signal };
      return this.#ended;
    });
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Waits for the process to end by itself. @throws when it takes too long. */
  async ended(withinMs: number = PATIENCE_MS): Promise<Ended> {
    await this.#until('its end', () => this.#ended !== undefined, withinMs);
    return await this.#closed;
  }

  /** Ends the process at once, as `kill -9` does. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }

  /** Every line of stdout so far as JSON. @throws when one is not. */
  events(): readonly Event[] {
    return jsonLines(this.stdout);
  }

  eventsOf(name: string): readonly Event[] {
    return this.events().filter(({ event }) => event === name);
  }

  /** The `count`th event of a name, once it has come. @throws when the process ends without it, or takes too long. */
  async event(name: string, { count = 1, withinMs = PATIENCE_MS } = {}): Promise<Event> {
    await this.#until(
      `${count} events "${name}"`,
      () => this.stdout.includes(`"event":"${name}"`) && this.eventsOf(name).length >= count,
      withinMs,
    );
    const found = this.eventsOf(name)[count - 1];
    if (found === undefined) throw new Error(`invariant broken: no event ${name}`);
    return found;
  }

  /** Waits until the process has said this, on either stream. */
  async said(what: RegExp | string, withinMs: number = PATIENCE_MS): Promise<void> {
    const found = (text: string): boolean =>
      typeof what === 'string' ? text.includes(what) : what.test(text);
    await this.#until(`"${String(what)}"`, () => found(this.stdout) || found(this.stderr), withinMs);
  }

  /** How it is and the end of what it said, for the reader of a failed test. */
  lastWords(): string {
    const state = JSON.stringify(this.#ended ?? 'running');
    return `process ${this.pid} (${state})\nstdout: …${this.stdout.slice(-2000)}\nstderr: …${this.stderr.slice(-2000)}`;
  }

  async #until(what: string, isSo: () => boolean, withinMs: number): Promise<void> {
    const words = (): string => `waited for ${what} of ${this.lastWords()}`;
    await until(() => isSo() || this.#ended !== undefined, words, withinMs);
    if (!isSo()) throw new Error(words());
  }
}

/** Starts `tranche` as a user would. Whatever still runs when the test ends is killed. */
export function start(
  args: readonly string[],
  {
    cwd,
    env = {},
    node = process.execPath,
    uid,
    imports = [],
    program: path = programFor(imports),
    before = [],
    flags = [],
  }: ProgramOptions,
): Program {
  const hooks = imports.flatMap((hook) => ['--import', hook]);
  const [command, ...rest] = [...before, node, ...flags, ...hooks, path];
  const child = spawn(command, [...rest, ...args], {
    cwd,
    // Nothing of the surroundings gets in: no TRANCHE_TOKEN, no NODE_OPTIONS of the test runner.
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: cwd,
      NO_COLOR: '1',
      ...(uid === undefined ? { XDG_CACHE_HOME: COMPILED } : {}),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const program = new Program(child);
  onTestFailed(() => {
    process.stderr.write(`${args.join(' ')}: ${program.lastWords()}\n`);
  });
  onTestFinished(async () => {
    await program.kill();
    // The simulated venue says its tokens: that is how one gets them.
    if (args[0] !== 'venue') overheard(`stdout of ${args.join(' ')}`, program.stdout);
    overheard(`stderr of ${args.join(' ')}`, program.stderr);
  });
  for (const [name, value] of Object.entries(env)) if (name.endsWith('TOKEN')) guarded(value);
  return program;
}

/** A command that has ended. */
export interface Finished {
  readonly pid: number;
  /** Exit code; `null` after a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export async function finish(args: readonly string[], options: ProgramOptions): Promise<Finished> {
  const program = start(args, options);
  const { code } = await program.ended(300_000);
  const { pid, stdout, stderr } = program;
  return { pid, code, stdout, stderr };
}

/** Every whole line as JSON. @throws when one is not. */
export const jsonLines = (text: string): readonly Event[] =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Event);

/** A Node on the PATH that is too old for the program itself; `undefined` when there is none. */
export function anOlderNode(): string | undefined {
  const found = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return found.find((node) => {
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    const [, major] = /^v(\d+)\./u.exec(stdout) ?? [];
    return major !== undefined && Number(major) < OLDEST_MAJOR;
  });
}
