import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../support/folder.ts';
import { RULES, RULE_TESTS, boardQueries } from './packaged.ts';

const isThere = spawnSync('promtool', ['--version']).status === 0;
const why = 'promtool is not installed: it comes with the package prometheus of Debian';

function promtool(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe(`promtool${isThere ? '' : ` (skipped: ${why})`}`, () => {
  it('accepts the alert rules', (ctx) => {
    if (!isThere) return ctx.skip(why);
    expect(promtool('check', 'rules', RULES)).toMatchObject({ status: 0 });
  });

  it('confirms that each alert rule fires in its case and stays silent otherwise', (ctx) => {
    if (!isThere) return ctx.skip(why);
    expect(promtool('test', 'rules', RULE_TESTS)).toMatchObject({ status: 0 });
  });

  it('accepts each query of the Grafana dashboard', (ctx) => {
    if (!isThere) return ctx.skip(why);
    const queries = boardQueries().map((expr, index) => ({ record: `board_${index}`, expr }));
    const folder = aFolder({ 'board.yaml': JSON.stringify({ groups: [{ name: 'board', rules: queries }] }) });
    expect(promtool('check', 'rules', join(folder, 'board.yaml'))).toMatchObject({ status: 0 });
  });
});
