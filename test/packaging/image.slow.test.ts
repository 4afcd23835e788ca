import { spawnSync } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aFolder } from '../system/support/desk.ts';
import { jsonLines, ROOT, start } from '../system/support/program.ts';
import type { Program } from '../system/support/program.ts';
import { until } from '../system/support/until.ts';

const TOOLS = ['buildah', 'debootstrap', 'unshare', 'nsenter', 'ip'];
const missing = TOOLS.filter((tool) => spawnSync('which', [tool]).status !== 0);
let why =
  process.getuid?.() !== 0
    ? 'only root can build an image here'
    : missing.length > 0
      ? `not installed: ${missing.join(', ')}`
      : spawnSync('unshare', ['--mount', '--net', '--pid', '--fork', 'true']).status === 0
        ? undefined
        : 'this machine allows no name spaces';
/** `IMAGE` names one that was built before; otherwise it is built, which takes minutes. */
const NAME = process.env['IMAGE'] ?? 'tranche-under-test';
const isGiven = process.env['IMAGE'] !== undefined;
const USER = 1000;

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly StopSignal: string;
  readonly Volumes: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly [string, ...string[]] };
}

/** Output of a command that works. */
function output(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' });
  expect([command, ...args, status === 0 ? '' : stderr]).toEqual([command, ...args, '']);
  return stdout.trim();
}

const containers: string[] = [];
/** A new container of the image: its files. */
function unpacked(): string {
  const container = output('buildah', 'from', '--pull-never', NAME);
  containers.push(container);
  return output('buildah', 'mount', container);
}

/** A folder of the image's user, with a config and strategies. */
function aVolume(config: string, strategies: Readonly<Record<string, object>>): string {
  const folder = aFolder();
  mkdirSync(join(folder, 'strategies'));
  writeFileSync(join(folder, 'tranche.yaml'), config);
  for (const [id, strategy] of Object.entries(strategies))
    writeFileSync(join(folder, 'strategies', `${id}.yaml`), JSON.stringify({ id, ...strategy }));
  for (const path of ['', 'strategies', 'tranche.yaml']) chownSync(join(folder, path), USER, USER);
  return folder;
}

const twap = (slices: number, seconds: number): object => ({
  kind: 'twap',
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: `${slices / 10}`, currency: 'btc' },
  duration: `PT${seconds}S`,
  slices,
});

describe(`the container image${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  let image: ImageConfig;
  beforeAll(() => {
    if (why !== undefined) return;
    if (!isGiven) {
      const { status, stderr } = spawnSync('packaging/build-image.sh', [NAME], {
        cwd: ROOT,
        encoding: 'utf8',
      });
      if (status === 69) {
        why = `no base of the image: ${stderr}`;
        return;
      }
      if (status !== 0) throw new Error(stderr);
    }
    const inspected = output('buildah', 'inspect', '--type', 'image', NAME);
    ({ config: image } = (
      JSON.parse(inspected) as { readonly Docker: { readonly config: ImageConfig } }
    ).Docker);
  }, 1_200_000);
  afterAll(() => {
    for (const container of containers) spawnSync('buildah', ['rm', container]);
    if (!isGiven) spawnSync('buildah', ['rmi', NAME, `${NAME}-base`]);
  });

  /** Runs a command of the image, on the network of another container if given. */
  const run = (root: string, volume: string, command: readonly string[], join_?: Program): Program =>
    start([...image.Env, ...image.Entrypoint, ...command], {
      cwd: volume,
      before: ['sh', join(import.meta.dirname, 'container.sh')],
      node: root,
      program: volume,
      env: join_ === undefined ? {} : { JOIN: String(join_.pid) },
    });

  /** Process 1 of a container. */
  const firstOf = ({ pid }: Program): number =>
    Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

  /** Exit code of the image's health check in a container. */
  const health = (root: string, { pid }: Program): number | null => {
    const [kind, ...test] = image.Healthcheck.Test;
    expect(kind).toBe('CMD');
    const inside = ['chroot', `--userspec=${image.User}`, root, 'env', '-i', ...image.Env, ...test];
    return spawnSync('nsenter', ['--target', String(pid), '--mount', '--net', ...inside]).status;
  };
  const skip = (ctx: { readonly skip: (note: string) => never }): void => {
    if (why !== undefined) ctx.skip(why);
  };

  it('runs a paper desk to its end as user 1000, who can write only to /data, and is healthy meanwhile', async (ctx) => {
    skip(ctx);
    expect(image).toMatchObject({ User: '1000:1000', StopSignal: 'SIGTERM', Volumes: { '/data': {} } });
    const root = unpacked();
    const paper = readFileSync('config/paper.yaml', 'utf8')
      .replace('./var/paper/{started_at}.db', '/data/journal.db')
      .replace('127.0.0.1:0', '127.0.0.1:8321')
      .replace('../strategies/demo', './strategies');
    const volume = aVolume(paper, { btc: twap(3, 6) });
    const desk = run(root, volume, [...image.Cmd, '--json', '--until-done']);
    await desk.event('ready');
    expect(health(root, desk)).toBe(0);
    const status = readFileSync(`/proc/${firstOf(desk)}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/mu);
    expect(status).toMatch(/^CapEff:\t0+$/mu);
    expect(status).toMatch(/^NSpid:\t\d+\t1$/mu);
    const find = `--target ${desk.pid} --mount chroot --userspec=1000:1000 ${root} find / -xdev -writable -not -type l`;
    const writable = spawnSync('nsenter', find.split(' '), { encoding: 'utf8' });
    expect(writable.stdout.trim().split('\n').toSorted()).toEqual(['/data', '/tmp']);
    expect(await desk.ended()).toEqual({ code: 0, signal: null });
    expect(desk.eventsOf('fill')).toHaveLength(3);
  });

  it('stops at SIGTERM as process 1, and a newer version continues with the same volume', async (ctx) => {
    skip(ctx);
    const compose = join(ROOT, 'packaging/compose');
    const market = aVolume('', {});
    cpSync(join(compose, 'venue.yaml'), join(market, 'venue.yaml'));
    const place = unpacked();
    const venue = run(place, market, ['venue', '--config', 'venue.yaml']);
    await venue.said(/"tokens".*\n/u);
    const config = readFileSync(join(compose, 'desk.yaml'), 'utf8')
      .replace('  collar_bps', '  max_executions_per_minute: 100\n  collar_bps')
      .replace('${VENUE_TOKEN}', 'simulated-desk-token'); // oxlint-disable-line no-template-curly-in-string -- YAML
    const volume = aVolume(config, { btc: twap(20, 60) });
    const first = run(unpacked(), volume, [...image.Cmd, '--json'], venue);
    await first.event('fill', { count: 2 });
    process.kill(firstOf(first), image.StopSignal);
    expect(await first.ended(30_000)).toEqual({ code: 0, signal: null });
    expect(health(place, venue)).toBe(1);

    const newer = unpacked();
    const manifest = join(newer, 'app/package.json');
    writeFileSync(
      manifest,
      readFileSync(manifest, 'utf8').replace(/"version": "[^"]+"/u, '"version": "9.9.9"'),
    );
    const second = run(newer, volume, [...image.Cmd, '--json', '--until-done'], venue);
    await until(
      () => health(newer, second) === 0,
      () => 'not healthy',
    );
    expect(await second.ended()).toEqual({ code: 0, signal: null });
    const told = run(newer, volume, ['journal', 'show', '--json', '/data/journal.db'], venue);
    expect((await told.ended()).code).toBe(0);
    const bodies = jsonLines(told.stdout).map(({ body }) => body as Readonly<Record<string, string>>);
    const fills = bodies.filter(({ kind }) => kind === 'fill');
    expect(fills.length).toBeGreaterThan(first.eventsOf('fill').length);
    expect(new Set(fills.map(({ slice }) => slice)).size).toBe(fills.length);
    expect(bodies.filter(({ kind }) => kind === 'started').map(({ version }) => version)).toEqual([
      expect.not.stringMatching('9.9.9'),
      '9.9.9',
    ]);
    expect((await run(newer, volume, ['journal', 'verify', '/data/journal.db'], venue).ended()).code).toBe(0);
  });
});
