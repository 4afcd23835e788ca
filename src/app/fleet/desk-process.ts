import { spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';

export interface DeskProcess {
  /** Finishes orders in flight, releases the lease and ends. */
  drain(): void;
  /** Ends it at once, regardless of what it is doing. */
  kill(): void;
  /** Exit code; undefined after a signal. */
  readonly ended: Promise<number | undefined>;
}

export interface DeskProcessOptions {
  /** File that Node runs. */
  readonly program: string;
  readonly config: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isJson: boolean;
  /** Each line that it says. */
  readonly onLine: (line: string, stream: 'stdout' | 'stderr') => void;
}

/**
 * `tranche run` in a process of its own. The channel between the two says nothing: the desk drains when it breaks, so that a
 * daemon that has died leaves no desk behind that nobody moves.
 */
export function startDeskProcess({
  program,
  config,
  cwd,
  env,
  isJson,
  onLine,
}: DeskProcessOptions): DeskProcess {
  const child = spawn(
    process.execPath,
    [...process.execArgv, program, 'run', '--config', config, ...(isJson ? ['--json'] : [])],
    { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  );
  for (const stream of ['stdout', 'stderr'] as const) {
    const source = child[stream];
    if (source !== null)
      createInterface({ input: source }).on('line', (line) => {
        onLine(line, stream);
      });
  }
  return {
    drain() {
      child.kill('SIGTERM');
    },
    kill() {
      child.kill('SIGKILL');
    },
    ended: new Promise((resolve) => {
      child.once('error', (error) => {
        onLine(error.message, 'stderr');
        resolve(undefined);
      });
      child.once('exit', (code) => {
        resolve(code ?? undefined);
      });
    }),
  };
}
