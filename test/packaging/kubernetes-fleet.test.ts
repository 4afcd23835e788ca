import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readFleetSettings } from '../../src/app/fleet/fleet-settings.ts';
import { check, isThere, modules, readManifest, why } from './manifests.ts';

const FOLDER = 'packaging/kubernetes/fleet';
const read = (file: string): Record<string, unknown> => readManifest(FOLDER, file);
const { resources } = read('kustomization.yaml') as { readonly resources: readonly string[] };

interface Container {
  readonly args?: readonly string[];
  readonly env?: readonly unknown[];
  readonly securityContext: unknown;
  readonly resources: unknown;
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly subPath?: string;
  }[];
}
const { spec } = read('deployment.yaml') as {
  readonly spec: {
    readonly replicas: number;
    readonly strategy: unknown;
    readonly selector: unknown;
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly initContainers: readonly Container[];
        readonly containers: readonly Container[];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
  };
};
const { spec: pod } = spec.template;
const all = [...pod.initContainers, ...pod.containers];

describe('the manifests of a fleet for Kubernetes', () => {
  it('are all that lie there', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(
      [...resources, 'kustomization.yaml', 'fleet.yaml'].toSorted(),
    );
  });

  it.for(resources)('fit the schemas of Kubernetes: %s', (file, ctx) => {
    if (!isThere) return ctx.skip(why);
    const manifest = read(file);
    expect(Object.keys(modules)).toContain(manifest['kind']);
    expect(() => {
      check(manifest);
    }).not.toThrow();
  });

  it('run two daemons, and never fewer while one is replaced or its node drained', () => {
    expect(spec).toMatchObject({
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    const { spec: budget } = read('pod-disruption-budget.yaml') as { readonly spec: unknown };
    expect(budget).toEqual({ minAvailable: 1, selector: spec.selector });
  });

  it('give each daemon a name of its own', () => {
    const [daemon] = pod.containers;
    const { args = [] } = daemon ?? {};
    expect(args[args.indexOf('--name') + 1]).toBe('$(POD_NAME)');
    expect(daemon?.env).toContainEqual({
      name: 'POD_NAME',
      valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
    });
  });

  it('reach the database with verified TLS alone, and a password from a file', () => {
    const [daemon] = pod.containers;
    const url = daemon?.args?.find((word) => word.startsWith('postgres://')) ?? '';
    expect(new URL(url)).toMatchObject({ password: '' });
    expect(new URL(url).searchParams.get('sslmode')).toBe('verify-full');
    expect(daemon?.env).toContainEqual({ name: 'PGPASSFILE', value: '/run/tranche/pgpass' });
  });

  it('leave the daemons nothing that they do not need', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const { securityContext, resources: own } of all) {
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

  it('give them longer to end than they drain', () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(15 + 10 + 10);
  });

  it('ask for life and readiness at the address that the settings serve', () => {
    const settings = readFleetSettings(`${FOLDER}/fleet.yaml`, { cwd: process.cwd(), env: {} });
    const { listen } = settings.operate;
    const probes = pod.containers[0] as unknown as Readonly<Record<string, unknown>>;
    for (const [probe, path] of [
      ['livenessProbe', 'healthz'],
      ['startupProbe', 'healthz'],
      ['readinessProbe', 'readyz'],
    ] as const)
      expect(JSON.stringify(probes[probe])).toContain(`http://${listen}/${path}`);
  });

  it('mount only volumes that are there', () => {
    const known = new Set(pod.volumes.map(({ name }) => name));
    const mounts = all.flatMap(({ volumeMounts }) => volumeMounts);
    expect(mounts.filter(({ name }) => !known.has(name))).toEqual([]);
  });

  it('let nobody in, and out only to names, the database and encrypted addresses', () => {
    const { spec: policy } = read('network-policy.yaml') as {
      readonly spec: { readonly egress: readonly { readonly ports: readonly { readonly port: number }[] }[] };
    };
    expect(policy).toMatchObject({ policyTypes: ['Ingress', 'Egress'], ingress: [] });
    expect(policy.egress.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([53, 53, 5432, 443]);
  });

  it('are put together by kubectl', (ctx) => {
    const built = spawnSync('kubectl', ['kustomize', FOLDER], { encoding: 'utf8' });
    if (built.error !== undefined) return ctx.skip('kubectl is not installed');
    if (!isThere) return ctx.skip(why);
    expect(built.stderr).toBe('');
    const made = parseAllDocuments(built.stdout).map(
      (document) => document.toJS() as Record<string, unknown>,
    );
    expect(made.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['Deployment', 'PodDisruptionBudget', 'NetworkPolicy', 'ConfigMap']),
    );
    for (const manifest of made.filter(({ kind }) => kind !== 'ConfigMap')) check(manifest);
    expect(built.stdout).not.toMatch(/image: tranche$/mu);
  });
});
