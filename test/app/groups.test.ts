import { Command } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import type { RunIo } from '../../src/app/commands/run.ts';
import { groups, groupsFor } from '../../src/app/cli/groups.ts';
import { instant } from '../../src/core/time.ts';

const nowhere = { write: (): boolean => true };
const io: RunIo = {
  stdout: nowhere,
  stderr: nowhere,
  env: {},
  cwd: '/',
  now: instant(0),
  colour: false,
  self: 'tranche',
  nodeOptions: [],
  debuggerUrl: undefined,
  onSignal: () => () => undefined,
  onBug: () => () => undefined,
  forget: () => undefined,
  exitNow: () => undefined,
};

describe('groups of commands', () => {
  it.each(groups.map((group) => [group.names.join(', '), group] as const))(
    'name what they add: %s',
    async (_, group) => {
      const cli = new Command('tranche');
      await group.add(cli, { io, done: () => undefined });
      expect(cli.commands.map((command) => command.name())).toEqual(group.names);
    },
  );

  it('are loaded alone for their commands, all where it is not plain which command is wanted, none for the version', () => {
    expect(groupsFor('backtest').map(({ names }) => names)).toEqual([['backtest']]);
    for (const first of [undefined, '--help', 'help', 'backtst', '--config'])
      expect(groupsFor(first)).toBe(groups);
    expect(groupsFor('--version')).toEqual([]);
  });
});
