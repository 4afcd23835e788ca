import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A manifest of `packaging/kubernetes`, or of a folder in it. */
export const readManifest = (folder: string, file: string): Record<string, unknown> =>
  parse(readFileSync(join(folder, file), 'utf8'), { merge: true }) as Record<string, unknown>;

/** Module of each kind in kubernetes-models; imported dynamically because its types are 18 MB. */
export const modules = {
  Deployment: 'apps/v1/Deployment',
  Namespace: 'v1/Namespace',
  NetworkPolicy: 'networking.k8s.io/v1/NetworkPolicy',
  PodDisruptionBudget: 'policy/v1/PodDisruptionBudget',
  ServiceAccount: 'v1/ServiceAccount',
} as const;
type Kind = keyof typeof modules;
type Model = new (manifest: object) => { validate(): void };
const models = new Map<Kind, Model>();
for (const [kind, path] of Object.entries(modules) as readonly [Kind, string][])
  try {
    const { [kind]: model } = (await import(`kubernetes-models/${path}`)) as Readonly<Record<Kind, Model>>;
    models.set(kind, model);
  } catch {
    // The tests that need the package are skipped with a reason.
  }
export const isThere = models.size > 0;
export const why = 'kubernetes-models is not installed: run npm ci';

/** Throws if a manifest does not conform to the schemas of Kubernetes. */
export function check(manifest: Record<string, unknown>): void {
  const { kind } = manifest as { readonly kind: Kind };
  const model = models.get(kind);
  if (model === undefined) throw new Error(`there is no model of ${kind}`);
  new model(structuredClone(manifest)).validate();
}
