import { spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';

export interface DeskProcess {
  /** Asks the process to finish orders in flight, release the lease and exit. */
  drain(): void;
  /** Kills the process immediately. */
  kill(): void;
  /** Exit code; `undefined` if a signal ended the process or it could not start. */
  readonly ended: Promise<number | undefined>;
}

export interface DeskProcessOptions {
  /** File that Node runs. */
  readonly program: string;
  readonly config: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isJson: boolean;
  /** Called with each line of output. */
  readonly onLine: (line: string, stream: 'stdout' | 'stderr') => void;
}

/**
 * Starts `tranche run` in a process of its own. The IPC channel carries no messages: the desk drains when the channel breaks, so that
 * no desk runs on without a daemon that could move it.
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
