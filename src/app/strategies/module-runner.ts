import { createInterface } from 'node:readline';
import { runInNewContext } from 'node:vm';
import { codeIn } from '../../strategy/kinds/module/module-code.ts';
import type { ModuleCall } from '../../strategy/kinds/module/module-call.ts';
import { wordsOf } from '../../strategy/kinds/module/module.ts';
import { readStep } from '../../strategy/kinds/module/module-step.ts';
import { BrokenRule } from '../../strategy/kinds/module/module-plan.ts';
import { CALL_MS } from './module-request.ts';
import type { ModuleRequest, ModuleOutcome } from './module-request.ts';
import { loadModule } from './modules.ts';
import type { ModuleSource } from './modules.ts';

/**
 * Process in which one user's module runs; `module-bridge.ts` starts it. It has no environment, network, child processes
 * or threads, no files once this program is loaded, and cannot create code from text.
 */

/** Handles requests, a line of JSON each, until the desk closes stdin. */
function serve(): void {
  process.permission.drop('fs.read');
  createInterface({ input: process.stdin }).on('line', (line) => {
    process.stdout.write(`${JSON.stringify(answered(JSON.parse(line) as ModuleRequest))}\n`); // oxlint-disable-line typescript/no-unsafe-type-assertion -- the bridge wrote it
  });
}

function answered({ source, call }: ModuleRequest): ModuleOutcome {
  try {
    return inTime(() => outcomeOf(source, call));
  } catch (cause) {
    return { fault: wordsOf(cause) };
  }
}

function outcomeOf(source: ModuleSource, call: ModuleCall | undefined): ModuleOutcome {
  const code = codeOrProblem(source);
  if (typeof code !== 'function') return code;
  if (call === undefined) return { value: null };
  const returned = code(call);
  // The desk parses the responses to other calls with their schemas.
  return { value: call.do === 'start' || call.do === 'step' ? readStep(returned) : returned };
}

function codeOrProblem(source: ModuleSource): ReturnType<typeof codeIn> {
  try {
    return codeIn(loadModule(source));
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : 'it cannot be loaded' };
  }
}

/** Runs `work` with a time limit in a context of its own, because only the JavaScript engine can end an endless loop. */
function inTime<T>(work: () => T): T {
  try {
    return runInNewContext('work()', { work }, { timeout: CALL_MS }) as T; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the context only calls the function
  } catch (cause) {
    const isLate = typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'; // prettier-ignore
    throw isLate ? new BrokenRule(`it did not end within ${CALL_MS / 1000} s`) : cause;
  }
}

serve();
