import { spawnSync } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';

const engine = ['docker', 'podman'].find((name) => spawnSync(name, ['info']).status === 0);
const why = 'no container engine answers here: neither docker nor podman';
const TAG = 'tranche-under-test';

describe(`the container image${engine === undefined ? ` (skipped: ${why})` : ''}`, () => {
  it('builds, and validates a config as an unprivileged user on a read-only file system', (ctx) => {
    if (engine === undefined) return ctx.skip(why);
    const built = spawnSync(engine, ['build', '-q', '-t', TAG, '.'], { encoding: 'utf8' });
    onTestFinished(() => {
      spawnSync(engine, ['image', 'rm', '-f', TAG]);
    });
    expect([built.status, built.stderr]).toEqual([0, expect.any(String)]);
    const closed = ['run', '--rm', '--read-only', '--cap-drop', 'ALL', '--tmpfs', '/tmp', TAG];
    const line = ['validate', '--config', '/app/config/paper.yaml'];
    const ran = spawnSync(engine, [...closed, ...line], { encoding: 'utf8' });
    expect([ran.status, ran.stdout]).toEqual([0, expect.stringContaining('strategies are usable')]);
    const who = spawnSync(engine, ['run', '--rm', '--entrypoint', 'id', TAG, '-u'], { encoding: 'utf8' });
    expect(who.stdout.trim()).toBe('1000');
  });
});
