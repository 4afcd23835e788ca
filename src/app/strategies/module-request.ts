import type { ModuleCall } from '../../strategy/kinds/module/module-call.ts';
import type { ModuleSource } from './modules.ts';

/** What passes between the desk and the process of its modules. */
export interface ModuleRequest {
  readonly id: number;
  readonly source: ModuleSource;
  /** Left out to load the code and no more. */
  readonly call?: ModuleCall | undefined;
}

/** `value` is plain data. `problem`: the code cannot be loaded. `fault`: the call failed. Both in words for the author. */
export type ModuleOutcome =
  { readonly value: unknown } | { readonly problem: string } | { readonly fault: string };
export type ModuleAnswer = ModuleOutcome & { readonly id: number };

/** Longest that one call may take: the desk waits for it. */
export const CALL_MS = 2_000;
/** Longest that the process may take to start and to answer its first request, on a busy machine. */
export const START_MS = 20_000;

/**
 * Node options of the process: nothing that Node's permission model guards is allowed but reading, which the process drops
 * permanently once its own program is loaded, before it runs any code of a module. Memory in MiB.
 */
export const RUNNER_OPTIONS = [
  '--permission',
  '--allow-fs-read=*',
  '--disallow-code-generation-from-strings',
  '--max-old-space-size=128',
] as const;
