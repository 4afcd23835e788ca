import type { Caller } from '../access.ts';
import type { OperatedDesk } from './operated-desk.ts';

/** The caller, and the desk that responds to it. */
export const meOf = (
  { name, role, kind, via, csrf }: Caller,
  { desk, mode }: Pick<OperatedDesk, 'desk' | 'mode'>,
  version: string,
): object => ({ name, role, kind, via, csrf, desk, mode, version });
