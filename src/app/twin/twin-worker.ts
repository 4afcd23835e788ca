import { parentPort, workerData } from 'node:worker_threads';
import type { CommandIo } from '../commands/io.ts';
import { twin } from './twin.ts';
import type { TwinOptions } from './twin.ts';

/** Request to the thread that `compare-day.ts` starts. */
export interface TwinTask {
  readonly options: TwinOptions;
  readonly io: Pick<CommandIo, 'env' | 'cwd' | 'now'>;
}

/** Runs `tranche twin --json` on a separate thread, so that the desk can keep trading. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `compare-day.ts` gives
const { options, io } = workerData as TwinTask;
let printed = '';
let said = '';
const stdout = { write: (text: string) => (printed += text) };
const stderr = { write: (text: string) => (said += text) };
await twin({ ...options, json: true }, { ...io, stdout, stderr, colour: false });
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
parentPort?.postMessage({ printed, said });
