import { addLook } from '../../../src/app/cli/reporting-commands.ts';
import { instant } from '../../../src/core/time.ts';
import type { Instant } from '../../../src/core/time.ts';
import { runLine } from './cli.ts';
import type { Ran } from './cli.ts';

export type { Ran } from './cli.ts';

export const NOON = instant(Date.UTC(2026, 10, 21, 12));

/** Runs `tranche plan` or `tranche why`. */
export const look = async (
  cwd: string,
  line: readonly string[],
  { now = NOON, env = {} }: { readonly now?: Instant; readonly env?: Record<string, string> } = {},
): Promise<Ran> => await runLine(addLook, line, { cwd, now, env, config: 'config/paper.yaml' });
