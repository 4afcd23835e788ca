import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { noPostgres, startPostgres } from '../journal/postgres-server.ts';
import { freePort } from '../system/support/free-port.ts';
import { start } from '../system/support/program.ts';
import type { Program } from '../system/support/program.ts';

interface Service {
  readonly command: readonly string[];
  readonly volumes: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const missing = noPostgres();

/** Runs the services of `compose.fleet.yaml` as processes of this machine, with its files and a real PostgreSQL. */
class Services {
  readonly #services: Readonly<Record<string, Service>>;
  readonly #home: string;
  readonly #socket: string;

  constructor(home: string, socket: string) {
    const text = readFileSync('packaging/compose.fleet.yaml', 'utf8');
    ({ services: this.#services } = parse(text, { merge: true }) as {
      readonly services: Readonly<Record<string, Service>>;
    });
    this.#home = home;
    this.#socket = socket;
  }

  start(name: string): Program {
    const { command, volumes, environment = {} } = this.#services[name] ?? { command: [], volumes: [] };
    const args = command.map((word) =>
      volumes.reduce((now, volume) => {
        const [source = '', target = ''] = volume.split(':');
        return now.replaceAll(target, source === 'socket' ? this.#socket : join(this.#home, source));
      }, word),
    );
    return start(args, { cwd: this.#home, env: environment });
  }

  async finish(name: string): Promise<unknown> {
    return await this.start(name).ended();
  }
}

/** Copies the files with free ports, because the processes share the ports of this machine. */
async function aCopy(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'tranche-compose-fleet-'));
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  cpSync('packaging/compose', join(home, 'compose'), { recursive: true });
  const files = ['venue.yaml', 'bitcoin/desk.yaml', 'ether/desk.yaml', 'north.yaml', 'south.yaml'];
  const ports = new Map<number, number>();
  for (const port of [8400, 8321, 8322, 8401, 8402]) ports.set(port, await freePort());
  for (const file of files) {
    const path = join(home, 'compose/fleet', file);
    let text = readFileSync(path, 'utf8');
    for (const [port, free] of ports) text = text.replaceAll(String(port), String(free));
    writeFileSync(path, text);
  }
  for (const daemon of ['north', 'south']) mkdirSync(join(home, daemon));
  return home;
}

describe.skipIf(missing !== undefined)(
  `compose.fleet.yaml${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('runs two desks on two daemons, and both desks on one daemon after the other has been killed', async () => {
      const server = await startPostgres();
      onTestFinished(async () => {
        await server.stop();
      });
      const owner = new Client({ host: server.home, user: 'tranche', database: 'postgres' });
      await owner.connect();
      await owner.query('CREATE DATABASE tranche');
      await owner.query(readFileSync('packaging/compose/fleet/roles.sql', 'utf8'));
      await owner.end();

      const services = new Services(await aCopy(), server.home);
      const succeeded = { code: 0, signal: null };
      await services.start('venue').said('venue is ready');
      expect(await services.finish('prepare')).toEqual(succeeded);
      expect(await services.finish('bitcoin')).toEqual(succeeded);
      expect(await services.finish('ether')).toEqual(succeeded);
      // A second `docker compose up` runs these services again.
      expect(await services.finish('prepare')).toEqual(succeeded);
      expect(await services.finish('bitcoin')).toEqual(succeeded);

      const [north, south] = [services.start('north'), services.start('south')];
      await north.said(/(bitcoin|ether): .* buy [\d.]+ .* at /u);
      await south.said(/(bitcoin|ether): .* buy [\d.]+ .* at /u);
      const other = north.stderr.includes('desk bitcoin') ? 'ether' : 'bitcoin';
      await south.kill();
      await north.said(`${other}: trading at`);
    });
  },
);
