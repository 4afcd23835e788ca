import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { CALL_MS, RUNNER_OPTIONS, START_MS } from './module-request.ts';
import type { ModuleAnswer, ModuleOutcome, ModuleRequest } from './module-request.ts';

/**
 * Thread between the desk and the process of its modules. It starts the process, kills it if a call does not end in
 * time, and starts another for the next call. The desk waits for one response at a time.
 */
const { port, signal } = workerData as { readonly port: MessagePort; readonly signal: Int32Array }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- module-process.ts gave it

/** Extension of this file and its neighbours; it changes when they are compiled. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const RUNNER = new URL(`module-runner${EXTENSION}`, import.meta.url);

let runner: ChildProcess | undefined;
let pending: { readonly id: number; readonly timer: NodeJS.Timeout } | undefined;

port.on('message', (request: ModuleRequest) => {
  const isNew = runner === undefined;
  runner ??= started();
  const timer = setTimeout(() => runner?.kill('SIGKILL'), isNew ? START_MS : 2 * CALL_MS);
  pending = { id: request.id, timer };
  runner.send(request);
});

function started(): ChildProcess {
  const child = fork(RUNNER, [], {
    execArgv: [...RUNNER_OPTIONS],
    env: {},
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.on('message', (answer: ModuleAnswer) => {
    answered(answer.id, answer);
  });
  const ended = (why: string): void => {
    if (runner !== child) return;
    runner = undefined;
    if (pending !== undefined) answered(pending.id, { fault: `the process of the module ended: ${why}` });
  };
  child.on('error', (error) => {
    ended(error.message);
  });
  child.on('exit', (code, killedBy) => {
    ended(killedBy ?? `exit code ${code ?? 0}`);
  });
  return child;
}

/** Passes a response to the desk, unless the desk no longer waits for it. */
function answered(id: number, outcome: ModuleOutcome): void {
  if (pending?.id !== id) return;
  clearTimeout(pending.timer);
  pending = undefined;
  port.postMessage({ ...outcome, id } satisfies ModuleAnswer);
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
}
