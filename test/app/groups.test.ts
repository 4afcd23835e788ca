import { Command } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { groups, groupsFor } from '../../src/app/cli/groups.ts';
import { aRunIo } from './support/run-io.ts';

describe('groups of commands', () => {
  it.each(groups.map((group) => [group.names.join(', '), group] as const))(
    'name what they add: %s',
    async (_, group) => {
      const cli = new Command('tranche');
      await group.add(cli, { io: aRunIo(), done: () => undefined });
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
