import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { instant } from '../../src/core/time.ts';
import { validated } from '../support/command.ts';
import { aFolder, put } from '../support/folder.ts';
import { check, isThere, modules, readManifest, why } from './manifests.ts';

const FOLDER = 'packaging/kubernetes';
const read = (file: string): Record<string, unknown> => readManifest(FOLDER, file);
const { resources } = read('kustomization.yaml') as { readonly resources: readonly string[] };

interface Container {
  readonly securityContext: unknown;
  readonly resources: { readonly requests: unknown; readonly limits: { readonly memory: string } };
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly subPath?: string;
  }[];
  readonly livenessProbe?: unknown;
}
const deployment = read('deployment.yaml') as {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: unknown;
        readonly automountServiceAccountToken: boolean;
        readonly enableServiceLinks: boolean;
        readonly initContainers: readonly Container[];
        readonly containers: readonly Container[];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
    readonly strategy: unknown;
  };
};
const { spec: pod } = deployment.spec.template;

describe('the Kubernetes manifests of a desk', () => {
  it('list every file of their folder in kustomization.yaml, except for that file and the config', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
    expect(files.toSorted()).toEqual([...resources, 'kustomization.yaml', 'desk.yaml'].toSorted());
  });

  it.for(resources)('conform to the Kubernetes schemas: %s', (file, ctx) => {
    if (!isThere) return ctx.skip(why);
    const manifest = read(file);
    expect(Object.keys(modules)).toContain(manifest['kind']);
    expect(() => {
      check(manifest);
    }).not.toThrow();
  });

  it('run an owner and a standby, and replace one after the other', () => {
    expect(deployment.spec.replicas).toBe(2);
    expect(deployment.spec.strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 0, maxUnavailable: 1 },
    });
    expect(read('pod-disruption-budget.yaml')).toMatchObject({ spec: { minAvailable: 1 } });
    expect(String(read('desk.yaml')['journal'])).toMatch(/^postgres:\/\//u);
  });

  it('drop all privileges that the desk does not need, and set resource requests and limits', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const { securityContext, resources: own } of [...pod.initContainers, ...pod.containers]) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(own).toMatchObject({
        requests: { cpu: expect.any(String) as string },
        limits: { memory: expect.any(String) as string },
      });
    }
  });

  it('give the desk a longer termination grace period than it needs to drain', () => {
    // `tranche run` drains for 15 s plus in_doubt.booking_margin, which is 10 s.
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(15 + 10 + 10);
  });

  it('probe liveness and readiness at the address that the config serves', () => {
    const { operate } = read('desk.yaml') as { readonly operate: { readonly listen: string } };
    const [desk] = pod.containers;
    for (const [probe, path] of [
      ['livenessProbe', 'healthz'],
      ['startupProbe', 'healthz'],
      ['readinessProbe', 'readyz'],
    ] as const)
      expect(JSON.stringify(desk?.[probe as 'livenessProbe'])).toContain(`http://${operate.listen}/${path}`);
  });

  it('mount only volumes that they declare, and mount config files individually instead of their folder', () => {
    const known = new Set(pod.volumes.map(({ name }) => name));
    const mounts = [...pod.initContainers, ...pod.containers].flatMap(({ volumeMounts }) => volumeMounts);
    expect(mounts.filter(({ name }) => !known.has(name))).toEqual([]);
    const whole = mounts.filter(({ subPath }) => subPath === undefined).map(({ mountPath }) => mountPath);
    expect(whole.filter((path) => path.startsWith('/etc/tranche'))).toEqual([]);
  });

  it('allow no ingress, and egress only to DNS, PostgreSQL and HTTPS', () => {
    const { spec } = read('network-policy.yaml') as {
      readonly spec: {
        readonly ingress: unknown;
        readonly policyTypes: unknown;
        readonly egress: readonly { readonly ports: readonly { readonly port: number }[] }[];
      };
    };
    expect(spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'], ingress: [] });
    expect(spec.egress.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([53, 53, 5432, 443]);
  });

  it('contain a config and a strategy that validate accepts', () => {
    const folder = aFolder({
      token: 'a-token',
      'strategies/buy.yaml': readFileSync(join(FOLDER, 'strategies/buy.yaml')),
    });
    const text = readFileSync(join(FOLDER, 'desk.yaml'), 'utf8')
      .replace('/run/tranche/venue-token', join(folder, 'token'))
      .replace('/etc/tranche/strategies', join(folder, 'strategies'));
    for (const mode of ['dry_run', 'live']) {
      put(folder, { 'desk.yaml': text.replace('mode: dry_run', `mode: ${mode}`) });
      const ran = validated(folder, { config: 'desk.yaml' }, { now: instant(Date.UTC(2026, 11, 1)) });
      expect([ran.code, ran.err]).toEqual([0, '']);
    }
  });

  it('are built by kubectl into valid manifests, config and strategies included', (ctx) => {
    const built = spawnSync('kubectl', ['kustomize', FOLDER], { encoding: 'utf8' });
    if (built.error !== undefined) return ctx.skip('kubectl is not installed');
    if (!isThere) return ctx.skip(why);
    expect(built.stderr).toBe('');
    const made = parseAllDocuments(built.stdout).map(
      (document) => document.toJS() as Record<string, unknown>,
    );
    const kinds = [...Object.keys(modules), 'ConfigMap'];
    expect(made.map(({ kind }) => kind)).toEqual(expect.arrayContaining(kinds));
    for (const manifest of made.filter(({ kind }) => kind !== 'ConfigMap')) check(manifest);
    const inside = made.filter(({ kind }) => kind !== 'Namespace').map(({ metadata }) => metadata);
    expect(inside).toEqual(inside.map(() => expect.objectContaining({ namespace: 'tranche' }) as unknown));
    expect(built.stdout).not.toMatch(/image: tranche$/mu);
  });
});
