import { spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groups } from '../../../src/app/cli/groups.ts';
import { commandNodes } from '../../../src/app/completion/command-tree.ts';
import type { CommandNode } from '../../../src/app/completion/command-tree.ts';
import { completionScript } from '../../../src/app/completion/scripts.ts';
import { strategyIds } from '../../../src/app/completion/strategy-ids.ts';
import { aRunIo } from '../support/run-io.ts';

let nodes: readonly CommandNode[] = [];
let folder = '';
beforeAll(async () => {
  const program = new Command('tranche');
  for (const group of groups) await group.add(program, { io: aRunIo(), done: () => undefined });
  nodes = commandNodes(program);
  folder = mkdtempSync(join(tmpdir(), 'tranche-completion-'));
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    writeFileSync(join(folder, shell), completionScript(shell, nodes));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const isThere = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
/** A stand-in for the program, which prints two ids and the config that it was given. */
const PROGRAM = 'tranche() { echo "one${4:+-of-$4}"; echo two; }';

/** Returns the candidates of bash for the last word of a line. */
function inBash(...words: readonly string[]): readonly string[] {
  const line = ['tranche', ...words].map((word) => `'${word}'`).join(' ');
  const script = `${PROGRAM}; source ${folder}/bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _tranche; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((each) => each !== '');
}

describe('completion in bash', () => {
  it.each([
    [['va'], ['validate']],
    [['account', 'or'], ['orders']],
    [
      ['account', 'orders', ''],
      ['open', 'done', 'show'],
    ],
    [['run', '--mo'], ['--mode']],
    [
      ['run', '--mode', ''],
      ['paper', 'dry_run', 'live'],
    ],
    [
      ['execute', ''],
      ['buy', 'sell'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['stop', ''],
      ['one', 'two'],
    ],
    [['stop', '--config', 'my.yaml', 'one'], ['one-of-my.yaml']],
    [['why', '--strategy', 't'], ['two']],
  ])('offers after %j the candidates %j', (words, offered) => {
    expect(inBash(...words)).toEqual(offered);
  });

  it('does not take the value of an option for a command', () => {
    expect(inBash('account', '--help', 'orders', 'list')).toEqual([]);
    expect(inBash('override', '--mode', 'propose', 'with')).toEqual(['withdraw']);
    // An option that takes a value in one command and none in another.
    expect(inBash('run', '--account-changed', '--mode', '')).toEqual([]);
    expect(inBash('account', 'sync', '--account-changed', '--stor')).toEqual(['--store']);
  });

  it('leaves the completion of file names to the shell', () => {
    expect(inBash('run', '--config', '')).toEqual([]);
  });

  it('offers every command', () => {
    expect(inBash('')).toEqual(groups.flatMap(({ names }) => names));
  });
});

describe('completion in other shells', () => {
  it('works in zsh with the same candidates', (ctx) => {
    if (!isThere('zsh')) return ctx.skip('zsh is not installed');
    const script = `${PROGRAM}; compdef() { :; }; source ${folder}/zsh; _tranche_candidates '' tranche account orders; _tranche_candidates '' tranche stop --config x`;
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8' });
    expect({ stderr, words: stdout.split(/\s+/u) }).toEqual({
      stderr: '',
      words: ['open', 'done', 'show', 'one-of-x', 'two', ''],
    });
  });

  it.for([
    ['tranche account or', ['orders']],
    ['tranche run --mode ', ['paper', 'dry_run', 'live']],
    ['tranche account orders show --js', ['--json']],
    ['tranche override --mode propose with', ['withdraw']],
  ] as const)('works in fish: %s', ([line, words], ctx) => {
    if (!isThere('fish')) return ctx.skip('fish is not installed');
    const { stdout, stderr } = spawnSync(
      'fish',
      ['--no-config', '-c', `source ${folder}/fish; complete -C '${line}'`],
      { encoding: 'utf8', env: { ...process.env, HOME: folder } },
    );
    expect(stderr).toBe('');
    expect(stdout.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t')[0]]))).toEqual(
      expect.arrayContaining([...words]),
    );
  });
});

describe('the completion of strategy ids', () => {
  it('works if the config uses unset variables, and omits ids that a shell could execute', () => {
    mkdirSync(join(folder, 's'));
    writeFileSync(join(folder, 'c.yaml'), 'mode: live\nvenue: { token: "${NOT_SET}" }\nstrategies: ./s\n');
    writeFileSync(
      join(folder, 's/a.yaml'),
      'id: b-twap\nkind: twap\n---\nid: "$(reboot)"\n---\nid: a-twap\n',
    );
    expect(strategyIds('c.yaml', { cwd: folder, env: {} })).toEqual(['a-twap', 'b-twap']);
    expect(strategyIds('none.yaml', { cwd: folder, env: {} })).toEqual([]);
  });
});
