import process from 'node:process';
import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { RunIo } from '../commands/run.ts';

/** Commands that the program registers together. Each command loads its implementation when it runs. */
export interface Group {
  /** Names of its commands, in help order. */
  readonly names: readonly string[];
  add(cli: Command, world: GroupWorld): Promise<void>;
}

export interface GroupWorld {
  readonly io: RunIo;
  /** Sets the exit code. */
  readonly done: (code: number) => void;
}

/** All commands, in help order. */
export const groups: readonly Group[] = [
  {
    names: ['run', 'validate'],
    add: async (cli, { io, done }) => (await import('./desk-cli.ts')).addDesk(cli, { io, config, done }),
  },
  {
    names: ['plan', 'why', 'alerts', 'report'],
    add: async (cli, { io, done }) =>
      (await import('./reporting-commands.ts')).addLook(cli, { io, config, done }),
  },
  {
    names: ['backtest'],
    add: async (cli, { io, done }) =>
      (await import('./backtest-cli.ts')).addBacktest(cli, { io, config, done }),
  },
  {
    names: ['sweep', 'worker'],
    async add(cli, { io, done }) {
      const { addSweep, addWorker } = await import('./sweep-cli.ts');
      addSweep(cli, { io, config, done });
      addWorker(cli, { io, done });
    },
  },
  {
    names: ['calibrate'],
    add: async (cli, { io, done }) =>
      (await import('./calibrate-cli.ts')).addCalibrate(cli, { io, config, done }),
  },
  {
    names: [
      'status',
      'execute',
      'pause',
      'resume',
      'stop',
      'run-now',
      'halt',
      'reload',
      'rearm',
      'doubts',
      'sign-in',
      'people',
    ],
    add: async (cli, { io, done }) =>
      (await import('./control-cli.ts')).addControl(cli, { io, config, done }),
  },
  {
    names: ['approvals', 'approve', 'reject'],
    add: async (cli, { io, done }) =>
      (await import('../approvals/approvals-cli.ts')).addApprovals(cli, { io, config, done }),
  },
  {
    names: ['notify'],
    add: async (cli, { io, done }) => (await import('./notify-cli.ts')).addNotify(cli, { io, config, done }),
  },
  {
    names: ['venue'],
    add: async (cli, { io, done }) => (await import('./desk-cli.ts')).addVenue(cli, { io, done }),
  },
  {
    names: ['journal'],
    add: async (cli, { io, done }) => (await import('./journal-cli.ts')).addJournal(cli, { io, done }),
  },
  {
    names: ['data'],
    add: async (cli, { io, done }) =>
      (await import('./data-cli.ts')).addData(cli, { io, done, recording: { io, config } }),
  },
  {
    names: ['account'],
    async add(cli, { io, done }) {
      const { accountIo, addAccount } = await import('./account-cli.ts');
      addAccount(cli, { io: accountIo(io, { input: process.stdin, output: process.stderr }), done });
    },
  },
  {
    names: ['schema'],
    add: async (cli, { io, done }) => (await import('./desk-cli.ts')).addSchema(cli, { io, done }),
  },
  {
    names: ['init'],
    add: async (cli, { io, done }) => (await import('../init/init-cli.ts')).addInit(cli, { io, done }),
  },
];

/**
 * Returns the groups that a command line needs: the group of its command, or all groups when the command is not clear, for help
 * and suggestions; none for the version.
 */
export function groupsFor(first: string | undefined): readonly Group[] {
  if (first === '--version' || first === '-V') return [];
  const wanted = groups.filter(({ names }) => first !== undefined && names.includes(first));
  return wanted.length > 0 ? wanted : groups;
}

const DEFAULT_CONFIG = 'config/paper.yaml';
const config = (): Option<'--config <file>', undefined, string> =>
  new Option('--config <file>', 'config file').env('TRANCHE_CONFIG').default(DEFAULT_CONFIG);
