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

describe('the Kubernetes manifests of a fleet', () => {
  it('list every file of their folder in kustomization.yaml, except for that file and the settings', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(
      [...resources, 'kustomization.yaml', 'fleet.yaml'].toSorted(),
    );
  });

  it.for(resources)('conform to the Kubernetes schemas: %s', (file, ctx) => {
    if (!isThere) return ctx.skip(why);
    const manifest = read(file);
    expect(Object.keys(modules)).toContain(manifest['kind']);
    expect(() => {
      check(manifest);
    }).not.toThrow();
  });

  it('run two daemons, start a replacement before they stop one, and keep at least one during a node drain', () => {
    expect(spec).toMatchObject({
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    const { spec: budget } = read('pod-disruption-budget.yaml') as { readonly spec: unknown };
    expect(budget).toEqual({ minAvailable: 1, selector: spec.selector });
  });

  it('give each daemon the name of its pod', () => {
    const [daemon] = pod.containers;
    const { args = [] } = daemon ?? {};
    expect(args[args.indexOf('--name') + 1]).toBe('$(POD_NAME)');
    expect(daemon?.env).toContainEqual({
      name: 'POD_NAME',
      valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
    });
  });

  it('connect to the database with verified TLS only, and take the password from a file', () => {
    const [daemon] = pod.containers;
    const url = daemon?.args?.find((word) => word.startsWith('postgres://')) ?? '';
    expect(new URL(url)).toMatchObject({ password: '' });
    expect(new URL(url).searchParams.get('sslmode')).toBe('verify-full');
    expect(daemon?.env).toContainEqual({ name: 'PGPASSFILE', value: '/run/tranche/pgpass' });
  });

  it('drop all privileges that the daemons do not need, and set resource requests and limits', () => {
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

  it('give daemons a longer termination grace period than they need to drain', () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(15 + 10 + 10);
  });

  it('probe liveness and readiness at the address that the settings serve', () => {
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

  it('mount only volumes that they declare', () => {
    const known = new Set(pod.volumes.map(({ name }) => name));
    const mounts = all.flatMap(({ volumeMounts }) => volumeMounts);
    expect(mounts.filter(({ name }) => !known.has(name))).toEqual([]);
  });

  it('allow no ingress, and egress only to DNS, the database and HTTPS', () => {
    const { spec: policy } = read('network-policy.yaml') as {
      readonly spec: { readonly egress: readonly { readonly ports: readonly { readonly port: number }[] }[] };
    };
    expect(policy).toMatchObject({ policyTypes: ['Ingress', 'Egress'], ingress: [] });
    expect(policy.egress.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([53, 53, 5432, 443]);
  });

  it('are built by kubectl into valid manifests', (ctx) => {
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
