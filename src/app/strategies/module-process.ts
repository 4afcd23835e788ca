import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { BrokenRule } from '../../strategy/kinds/module/module-plan.ts';
import type { ModuleCall, ModuleCode } from '../../strategy/kinds/module/module-call.ts';
import { START_MS } from './module-request.ts';
import type { ModuleAnswer, ModuleRequest } from './module-request.ts';
import type { ModuleSource } from './modules.ts';

/** Extension of this file and its neighbours; it changes when they are compiled. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

interface Bridge {
  readonly port: MessagePort;
  readonly signal: Int32Array;
}
/** Bridge to the processes of all modules. */
let bridge: Bridge | undefined;
let requests = 0;

/**
 * Returns the code of a module, which runs in a process of its own without token, environment, network or files
 * (`module-runner.ts`). A step is part of a synchronous pipeline, so each call blocks until its response arrives, for a
 * few seconds at most. A call that does not end in time ends that process and is a fault of the module.
 */
export function codeInOwnProcess(source: ModuleSource): ModuleCode | { readonly problem: string } {
  const loaded = ask(source);
  if ('problem' in loaded) return { problem: loaded.problem };
  if ('fault' in loaded) return { problem: loaded.fault };
  return (call) => {
    const answer = ask(source, call);
    if ('value' in answer) return answer.value;
    throw new BrokenRule('problem' in answer ? answer.problem : answer.fault);
  };
}

function ask(source: ModuleSource, call?: ModuleCall): ModuleAnswer {
  bridge ??= startBridge();
  const { port, signal } = bridge;
  const id = ++requests;
  Atomics.store(signal, 0, 0);
  port.postMessage({ id, source, call } satisfies ModuleRequest);
  // The bridge enforces a shorter limit on the process; this one is for a bridge that has died.
  Atomics.wait(signal, 0, 0, 2 * START_MS);
  const received: { readonly message: ModuleAnswer } | undefined = receiveMessageOnPort(port);
  if (received?.message.id === id) return received.message;
  bridge = undefined;
  return { id, fault: 'the process of the module does not respond' };
}

function startBridge(): Bridge {
  const { port1: port, port2: far } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(`module-bridge${EXTENSION}`, import.meta.url), {
    workerData: { port: far, signal },
    transferList: [far],
  });
  worker.on('error', () => undefined);
  worker.unref();
  return { port, signal };
}
