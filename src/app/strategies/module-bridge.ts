import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { isRecord } from '../../core/text/json.ts';
import { ANSWER_MAX, CALL_MS, MEMORY_MAX, RUNNER_OPTIONS, START_MS } from './module-request.ts';
import type { ModuleAnswer, ModuleOutcome, ModuleRequest } from './module-request.ts';

/**
 * Thread between the desk and the processes of its modules, one for each module. It starts them, and kills one if a call
 * does not end in time, its memory grows too large or its answer is too long; the next call starts another. The desk
 * waits for one response at a time.
 */
const { port, signal } = workerData as { readonly port: MessagePort; readonly signal: Int32Array }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- module-process.ts gave it

/** Extension of this file and its neighbours; it changes when they are compiled. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const RUNNER = fileURLToPath(new URL(`module-runner${EXTENSION}`, import.meta.url));
/** Most processes at a time: beyond that, the one that was called least recently ends. */
const RUNNERS_MAX = 16;
const WATCH_MS = 25;

/** By hash of the module, the most recently called last. */
const runners = new Map<string, ChildProcess>();
let pending:
  { readonly id: number; readonly runner: ChildProcess; readonly timer: NodeJS.Timeout } | undefined;

port.on('message', (request: ModuleRequest) => {
  const { sha256 } = request.source;
  const known = runners.get(sha256);
  const runner = known ?? started();
  runners.delete(sha256);
  for (const oldest of runners.values()) if (runners.size >= RUNNERS_MAX) kill(oldest);
  runners.set(sha256, runner);
  const timer = setTimeout(kill, known === undefined ? START_MS : 2 * CALL_MS, runner);
  pending = { id: request.id, runner, timer };
  runner.stdin?.write(`${JSON.stringify(request)}\n`);
});

function kill(runner: ChildProcess): void {
  for (const [sha256, each] of runners) if (each === runner) runners.delete(sha256);
  runner.kill('SIGKILL');
}

function started(): ChildProcess {
  const child = spawn(process.execPath, [...RUNNER_OPTIONS, RUNNER], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdin.on('error', () => undefined);
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.length > ANSWER_MAX) ended(`its answer has more than ${ANSWER_MAX} characters`);
    if (!text.endsWith('\n')) return;
    const line = text;
    text = '';
    answered(child, outcomeIn(line));
  });
  const ended = (why: string): void => {
    kill(child);
    answered(child, { fault: `the process of the module ended: ${why}` });
  };
  child.on('error', (error) => {
    ended(error.message);
  });
  child.on('exit', (code, killedBy) => {
    ended(killedBy ?? `exit code ${code ?? 0}`);
  });
  return child;
}

/** Reads what a process wrote. Only the desk checks a value. */
function outcomeIn(line: string): ModuleOutcome {
  try {
    const read: unknown = JSON.parse(line);
    if (!isRecord(read)) return UNREADABLE;
    if (typeof read['problem'] === 'string') return { problem: read['problem'] };
    return typeof read['fault'] === 'string' ? { fault: read['fault'] } : { value: read['value'] };
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE = { fault: 'the process of the module wrote what cannot be read' } as const;

/** Passes a response to the desk, unless the desk no longer waits for it. */
function answered(runner: ChildProcess, outcome: ModuleOutcome): void {
  if (pending?.runner !== runner) return;
  const { id, timer } = pending;
  clearTimeout(timer);
  pending = undefined;
  port.postMessage({ ...outcome, id } satisfies ModuleAnswer);
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
}

/** Resident memory, bytes; 0 where the system does not show that of another process. */
function memoryOf({ pid }: ChildProcess): number {
  try {
    const status = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8');
    return 1_024 * Number(/^VmRSS:\s+(?<kb>\d+)/mu.exec(status)?.groups?.['kb'] ?? 0);
  } catch {
    return 0;
  }
}

setInterval(() => {
  for (const runner of runners.values()) if (memoryOf(runner) > MEMORY_MAX) runner.kill('SIGKILL');
}, WATCH_MS);
