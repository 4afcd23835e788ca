import { instant } from '../../../src/core/time.ts';
import { runLine } from '../../support/command.ts';
import type { CliWorld, Ran } from '../../support/command.ts';

export type { Ran } from '../../support/command.ts';

export const NOON = instant(Date.UTC(2026, 10, 21, 12));

/** Runs `tranche plan`, `why`, `report` or `alerts`. */
export const look = async (
  cwd: string,
  line: readonly string[],
  over: Partial<CliWorld> = {},
): Promise<Ran> => await runLine(line, { cwd, now: NOON, config: 'config/paper.yaml', ...over });
