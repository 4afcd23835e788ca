import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { rightsProblems } from '../../src/app/strategies/rights-problems.ts';
import { strategyFiles } from '../../src/app/strategies/strategy-files.ts';
import { loadAll } from '../../src/app/strategies/strategies.ts';
import { instant } from '../../src/core/time.ts';
import type { StrategiesPort } from '../../src/engine/ports.ts';
import { aFolder, put } from '../support/folder.ts';
import { finish } from '../system/support/program.ts';
import { aKernelText, aLiveText, aModuleText, aTwapText } from './support/texts.ts';

const live = (more = ''): string =>
  aLiveText('base_url: "http://127.0.0.1:1", token_file: ./token', `strategies: ./strategies\n${more}`);

let folder = '';
const options = () => ({ env: {}, cwd: folder, now: instant(Date.UTC(2026, 11, 1)) });
beforeEach(() => {
  folder = aFolder({
    'desk.yaml': 'mode: paper\nstrategies: ./strategies\n',
    token: 'a-token',
    'strategies/a.yaml': aTwapText(),
  });
});

/** The port through which a running desk reads its strategies. */
function running(): StrategiesPort {
  const { config, sections } = loadAll('desk.yaml', options());
  return strategyFiles({
    configFile: 'desk.yaml',
    options: options(),
    config,
    sections,
  });
}

const problem = (says: string): object => ({ problems: expect.stringContaining(says) as string });

describe.runIf(process.platform !== 'win32')('a special file in place of a strategy or config', () => {
  it('is rejected immediately by a reload if it is a named pipe', () => {
    const port = running();
    execFileSync('mkfifo', [join(folder, 'strategies/b.yaml')]);
    expect(port.read()).toEqual(problem('it is a named pipe, not a regular file'));
  });

  it('is rejected by a reload without being read if it is a sparse file of 1.5 GB', () => {
    const port = running();
    put(folder, { 'strategies/b.yaml': '' });
    truncateSync(join(folder, 'strategies/b.yaml'), 1_500_000_000);
    const before = process.memoryUsage().rss;
    expect(port.read()).toEqual(problem('at most 262144 are read'));
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    rmSync(join(folder, 'strategies/b.yaml'));
  });

  it('is reported by validate, which does not read a device to its end', async () => {
    const { code, stdout, stderr } = await finish(['validate', '--config', '/dev/zero'], { cwd: folder });
    expect([code, stdout + stderr]).toEqual([
      78,
      expect.stringContaining('it is a device, not a regular file'),
    ]);
  });
});

describe.runIf(process.platform !== 'win32')('a desk with files that other users can change', () => {
  const problems = (): readonly string[] => {
    const { strategies } = loadAll('desk.yaml', options());
    return rightsProblems('desk.yaml', strategies, folder);
  };

  it('reports each of them with the command that corrects it', () => {
    expect(problems()).toEqual([]);
    chmodSync(join(folder, 'desk.yaml'), 0o666);
    chmodSync(join(folder, 'strategies'), 0o777);
    chmodSync(join(folder, 'strategies/a.yaml'), 0o664);
    expect(problems()).toEqual(
      ['desk.yaml', 'strategies/a.yaml', 'strategies'].map((name) => {
        const path = join(folder, name);
        return `other users can change ${path}: run "chmod go-w ${path}"`;
      }),
    );
  });

  it('reports a folder above them, also of what a link leads to', () => {
    const above = aFolder({ 'a/b/c.yaml': '' });
    chmodSync(join(above, 'a'), 0o777);
    symlinkSync(join(above, 'a/b/c.yaml'), join(folder, 'link.yaml'));
    for (const file of [join(above, 'a/b/c.yaml'), join(folder, 'link.yaml')])
      expect(rightsProblems(file, [], folder)).toEqual([
        `other users can change ${join(above, 'a')}: run "chmod go-w ${join(above, 'a')}"`,
      ]);
  });

  it('reports a module that other users can change', () => {
    put(folder, { 'strategies/own.yaml': aModuleText() });
    put(folder, { 'strategies/own.ts': aKernelText() }, 0o602);
    expect(problems()).toEqual([expect.stringContaining('strategies/own.ts')]);
  });

  it('does not start in live mode if other users can change a notification command', async () => {
    put(folder, { page: '#!/bin/sh\n' }, 0o722);
    const channels = '[{ name: pager, type: command, run: [./page] }]';
    put(folder, { 'desk.yaml': live(`operate: { notify: { channels: ${channels} } }\n`) });
    const { code, stderr } = await finish(['run', '--config', 'desk.yaml'], { cwd: folder });
    expect(code).toBe(78);
    expect(stderr).toContain('live mode refuses to start');
    expect(stderr).toContain(`chmod go-w ${join(folder, 'page')}`);
  });

  it('keeps its strategies in live mode if other users can change one at a reload', () => {
    put(folder, { 'desk.yaml': live() });
    const port = running();
    chmodSync(join(folder, 'strategies/a.yaml'), 0o666);
    expect(port.read()).toEqual(problem('other users can change'));
  });
});

describe('a module in live mode', () => {
  it('is refused unless the config allows modules', () => {
    put(folder, { 'strategies/own.yaml': aModuleText(), 'strategies/own.ts': aKernelText() });
    put(folder, { 'desk.yaml': live() });
    expect(() => loadAll('desk.yaml', options())).toThrow('live mode does not run modules by default');
    put(folder, { 'desk.yaml': live('allow_modules: true\n') });
    expect(() => loadAll('desk.yaml', options())).not.toThrow('live mode does not run modules');
  });
});
