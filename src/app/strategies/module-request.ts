import type { ModuleCall } from '../../strategy/kinds/module/module-call.ts';
import type { ModuleSource } from './modules.ts';

/** A request from the desk to the process of a module. */
export interface ModuleRequest {
  readonly id: number;
  readonly source: ModuleSource;
  /** Omitted: only load the code. */
  readonly call?: ModuleCall | undefined;
}

/** `value`: plain data. `problem`: why the code cannot be loaded. `fault`: why the call failed. Both are messages for the author. */
export type ModuleOutcome =
  { readonly value: unknown } | { readonly problem: string } | { readonly fault: string };
export type ModuleAnswer = ModuleOutcome & { readonly id: number };

/** Longest duration of a call, during which the desk waits. */
export const CALL_MS = 2_000;
/** Longest time in which the process starts and responds to its first request on a busy machine. */
export const START_MS = 20_000;

/** Largest resident memory of a process, bytes: its heap, its buffers, and the program. Watched on Linux. */
export const MEMORY_MAX = 320 * 1024 * 1024;
/** Longest answer of a process, in characters. */
export const ANSWER_MAX = 256 * 1024;

/**
 * Node options of the process. Of everything that Node's permission model guards, they allow only reading files. The
 * process permanently drops that permission once its own program is loaded, before it runs any module code. Heap in
 * MiB.
 */
export const RUNNER_OPTIONS = [
  '--permission',
  '--allow-fs-read=*',
  '--disallow-code-generation-from-strings',
  '--max-old-space-size=128',
] as const;
