/**
 * Prints the shipped packages as a CycloneDX 1.5 document, from the lockfile alone: the same lockfile gives the same text.
 *
 * Run: `npm run sbom`, or `npm run sbom -- --write` for the file in the repository.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const FOLDER = 'node_modules/';
const root = new URL('../', import.meta.url);
const file = new URL('sbom.cdx.json', root);

/** Returns the document for a lockfile. It excludes development tools, which are not shipped. */
export function sbomOf(lockfile: string): object {
  const { packages } = JSON.parse(lockfile) as { readonly packages: Readonly<Record<string, Locked>> };
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  const refs = new Map(shipped.map(([path, each]) => [path, refOf(path, each)]));
  const top = packages[''] ?? {};
  const self = `pkg:npm/tranche@${top.version ?? '0'}`;
  const dependsOn = (path: string, each: Locked): readonly string[] =>
    Object.keys({ ...each.dependencies, ...each.optionalDependencies, ...each.peerDependencies })
      .flatMap((name) => refs.get(resolved(path, name, refs)) ?? [])
      .toSorted();
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        'bom-ref': self,
        type: 'application',
        name: 'tranche',
        version: top.version,
        purl: self,
        licenses: [{ license: { id: top.license } }],
      },
    },
    components: shipped.map(([path, each]) => componentOf(path, each)),
    dependencies: [
      { ref: self, dependsOn: dependsOn('', top) },
      ...shipped.map(([path, each]) => ({ ref: refOf(path, each), dependsOn: dependsOn(path, each) })),
    ],
  };
}

function componentOf(path: string, each: Locked): object {
  const [algorithm = '', hash = ''] = (each.integrity ?? '').split('-', 2);
  const ref = refOf(path, each);
  return {
    'bom-ref': ref,
    type: 'library',
    name: nameOf(path),
    version: each.version,
    scope: each.optional === true ? 'optional' : 'required',
    purl: ref,
    ...(each.license === undefined ? {} : { licenses: [licenseOf(each.license)] }),
    hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(hash, 'base64').toString('hex') }],
  };
}

const licenseOf = (text: string): object =>
  /[ ()]/u.test(text) ? { expression: text } : { license: { id: text } };

const nameOf = (path: string): string => path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
const refOf = (path: string, { version }: Locked): string =>
  `pkg:npm/${nameOf(path).replace('@', '%40')}@${version ?? '0'}`;

/** Returns where Node finds `name` from `path`: in the nearest folder above. */
function resolved(path: string, name: string, known: ReadonlyMap<string, unknown>): string {
  for (let from = path; from !== ''; from = from.slice(0, Math.max(0, from.lastIndexOf(`/${FOLDER}`)))) {
    const nested = `${from}/${FOLDER}${name}`;
    if (known.has(nested)) return nested;
  }
  return FOLDER + name;
}

/** Returns the text of the file in the repository. */
export const sbomText = (lockfile: string): string => `${JSON.stringify(sbomOf(lockfile), undefined, 2)}\n`;

if (import.meta.main) {
  const text = sbomText(readFileSync(new URL('package-lock.json', root), 'utf8'));
  if (process.argv.includes('--write')) writeFileSync(file, text);
  else process.stdout.write(text);
}
