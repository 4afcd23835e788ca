import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Locked {
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

describe('the lockfile', () => {
  it('holds no dependency that runs a script when it is installed, save one that only old macOS needs', () => {
    const scripted = dependencies.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(scripted.map(([name]) => name).filter((name) => name !== 'node_modules/fsevents')).toEqual([]);
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
