import { Command } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { groups, groupsFor } from '../../src/app/cli/groups.ts';
import { aRunIo } from '../support/run-io.ts';

describe('command groups', () => {
  it.each(groups.map((group) => [group.names.join(', '), group] as const))(
    'add exactly the commands that they name: %s',
    async (_, group) => {
      const cli = new Command('tranche');
      await group.add(cli, { io: aRunIo(), done: () => undefined });
      expect(cli.commands.map((command) => command.name())).toEqual(group.names);
    },
  );

  it('are loaded only for their own commands, all for help or an unknown command, and none for --version', () => {
    expect(groupsFor('backtest').map(({ names }) => names)).toEqual([['backtest']]);
    for (const first of [undefined, '--help', 'help', 'backtst', '--config'])
      expect(groupsFor(first)).toBe(groups);
    expect(groupsFor('--version')).toEqual([]);
  });

  it('fit one screen of 45 lines, with the help around them', () => {
    // Usage, description, options and exit codes, and the blank lines between them.
    expect(groups.flatMap(({ names }) => names).length + 10).toBeLessThanOrEqual(45);
  });
});
