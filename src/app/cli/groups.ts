import process from 'node:process';
import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { RunIo } from '../commands/io.ts';
import type { CliWorld } from './options.ts';

/** Commands that the program registers together. Each command loads its implementation when it runs. */
export interface Group {
  /** Names of its commands, in help order. */
  readonly names: readonly string[];
  add(cli: Command, process: Omit<World, 'config'>): Promise<void>;
}

type World = CliWorld<RunIo>;
type Add = (cli: Command, world: World) => void;

const group = (names: string, load: () => Promise<Add>): Group => ({
  names: names.split(' '),
  add: async (cli, world) => {
    (await load())(cli, { ...world, config });
  },
});

/** All commands, in help order. */
export const groups: readonly Group[] = [
  group('run validate', async () => (await import('./desk-cli.ts')).addDesk),
  group('plan why alerts report', async () => (await import('./reporting-commands.ts')).addLook),
  group('backtest', async () => (await import('./backtest-cli.ts')).addBacktest),
  group('sweep worker', async () => (await import('./sweep-cli.ts')).addSweep),
  group('calibrate', async () => (await import('./calibrate-cli.ts')).addCalibrate),
  group(
    'status execute pause resume stop run-now halt reload rearm doubts sign-in people',
    async () => (await import('./control-cli.ts')).addControl,
  ),
  group('approvals approve reject', async () => (await import('../approvals/approvals-cli.ts')).addApprovals),
  group('notify', async () => (await import('./desk-cli.ts')).addNotify),
  group('venue', async () => (await import('./desk-cli.ts')).addVenue),
  group('journal', async () => (await import('./journal-cli.ts')).addJournal),
  group('data', async () => (await import('./data-cli.ts')).addData),
  group('account', async () => {
    const { accountIo, addAccount } = await import('./account-cli.ts');
    return (cli, { io, done }) => {
      addAccount(cli, { io: accountIo(io, { input: process.stdin, output: process.stderr }), done });
    };
  }),
  group('schema', async () => (await import('./desk-cli.ts')).addSchema),
  group('init', async () => (await import('../init/init-cli.ts')).addInit),
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
