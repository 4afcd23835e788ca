import process from 'node:process';
import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { RunIo } from '../commands/io.ts';
import type { AddCommands, CliWorld } from './options.ts';

/** Commands that the program registers together. Each command loads its implementation when it runs. */
export interface Group {
  /** Names of its commands, in help order. */
  readonly names: readonly string[];
  add(cli: Command, world: Omit<World, 'config'> & Partial<World>): Promise<void>;
}

type World = CliWorld<RunIo>;

const group = (names: string, load: () => Promise<AddCommands>): Group => ({
  names: names.split(' '),
  add: async (cli, world) => {
    (await load())(cli, { config, ...world });
  },
});

/** All commands, in help order. */
export const groups: readonly Group[] = [
  group('run', async () => (await import('../commands/run.ts')).addRun),
  group('validate', async () => (await import('../commands/validate.ts')).addValidate),
  group('plan', async () => (await import('./plan-cli.ts')).addPlan),
  group('why', async () => (await import('../commands/why.ts')).addWhy),
  group('alerts', async () => (await import('../commands/alerts.ts')).addAlerts),
  group('report', async () => (await import('../commands/report.ts')).addReport),
  group('backtest', async () => (await import('./backtest-cli.ts')).addBacktest),
  group('sweep worker', async () => (await import('./sweep-cli.ts')).addSweep),
  group('calibrate', async () => (await import('../commands/calibrate.ts')).addCalibrate),
  group('status', async () => (await import('../commands/desk/status.ts')).addStatus),
  group('execute', async () => (await import('../commands/execute.ts')).addExecute),
  group('pause resume', async () => (await import('../commands/desk/steer.ts')).addPauses),
  group('halt', async () => (await import('../commands/desk/halt.ts')).addHalt),
  group('stop run-now reload rearm', async () => (await import('../commands/desk/steer.ts')).addSteer),
  group('doubts', async () => (await import('../commands/desk/doubts.ts')).addDoubts),
  group('sign-in people', async () => (await import('../commands/desk/people.ts')).addPeople),
  group('approvals approve reject', async () => (await import('../commands/desk/approvals.ts')).addApprovals),
  group('notify', async () => (await import('../commands/notify.ts')).addNotify),
  group('venue', async () => (await import('../commands/venue.ts')).addVenue),
  group('journal', async () => {
    const parts = await Promise.all([
      import('../commands/journal/journal.ts').then(({ addShow }) => addShow),
      import('../commands/journal/journal-settings.ts').then(({ addSettings }) => addSettings),
      import('../commands/journal/journal-ledger.ts').then(({ addExport }) => addExport),
      import('../commands/journal/journal-verify.ts').then(({ addVerify }) => addVerify),
      import('../commands/journal/journal-head.ts').then(({ addHead }) => addHead),
      import('../commands/journal/journal-copy.ts').then(({ addCopy }) => addCopy),
    ]);
    return under('journal', 'read, export and verify a journal; safe while the daemon runs', parts);
  }),
  group('data', async () => {
    const parts = await Promise.all([
      import('../commands/data/data-profile.ts').then(({ addProfile }) => addProfile),
      import('../commands/data/data-tape.ts').then(({ addTape }) => addTape),
      import('../commands/data/data-record.ts').then(({ addRecord }) => addRecord),
    ]);
    return under('data', 'import, inspect, record and generate market history', parts);
  }),
  group('account', async () => {
    const { accountIo, addAccount } = await import('../commands/account/account-call.ts');
    return (cli, { io, done }) => {
      addAccount(cli, { io: accountIo(io, process), done });
    };
  }),
  group('schema', async () => (await import('../commands/schema.ts')).addSchema),
  group('init', async () => (await import('../commands/init.ts')).addInit),
];

/** Returns a function that adds a command with subcommands. */
const under =
  (name: string, does: string, parts: readonly AddCommands[]): AddCommands =>
  (cli, world) => {
    const parent = cli.command(name).description(does);
    for (const add of parts) add(parent, world);
  };

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
