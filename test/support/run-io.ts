import type { RunIo } from '../../src/app/commands/io.ts';
import { instant } from '../../src/core/time.ts';

export interface PrintedIo extends RunIo {
  readonly printed: { out: string; err: string };
}

/** The environment of a process whose output is kept. */
export function aRunIo(changes: Partial<RunIo> = {}): PrintedIo {
  const printed = { out: '', err: '' };
  return {
    printed,
    stdout: { write: (text: string) => (printed.out += text) },
    stderr: {
      write(text: string) {
        printed.err += text;
        return true;
      },
    },
    env: {},
    cwd: '/',
    now: instant(0),
    colour: false,
    self: 'tranche',
    program: '',
    nodeOptions: [],
    debuggerUrl: undefined,
    onSignal: () => () => undefined,
    onBug: () => () => undefined,
    forget: () => undefined,
    exitNow: () => undefined,
    ...changes,
  };
}
