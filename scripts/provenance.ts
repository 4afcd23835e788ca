/**
 * Writes the provenance of the files of a release: an in-toto statement with the SLSA provenance predicate (v1).
 *
 *   npm pack && node scripts/provenance.ts tranche-0.1.0.tgz sbom.cdx.json --builder https://ci.example/tranche > provenance.json
 *
 * With `--key FILE` (Ed25519, PEM) the statement is in a signed DSSE envelope. Without a key, anybody who can change the files can change
 * the statement. The script rejects a working tree with changes, because the files would not come from its commit.
 */
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, hash, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

const root = new URL('../', import.meta.url);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export interface Release {
  readonly files: readonly { readonly name: string; readonly bytes: Buffer }[];
  readonly commit: string;
  /** The builder: a URI that identifies the machine and the software on it. */
  readonly builder: string;
  readonly finishedOn: string;
  readonly node: string;
  readonly lockfile: Buffer;
}

/** Returns the unsigned statement. */
export const provenanceOf = ({ files, commit, builder, finishedOn, node, lockfile }: Release): object => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: files.map(({ name, bytes }) => ({ name, digest: { sha256: sha256(bytes) } })),
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: 'urn:tranche:build:npm-pack:1',
      externalParameters: { source: { digest: { gitCommit: commit } }, command: 'npm ci && npm pack' },
      internalParameters: { node },
      resolvedDependencies: [
        { name: 'source', digest: { gitCommit: commit } },
        { name: 'package-lock.json', digest: { sha256: sha256(lockfile) } },
      ],
    },
    runDetails: { builder: { id: builder }, metadata: { finishedOn } },
  },
});

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/** Returns a DSSE envelope around a statement, signed with an Ed25519 key in PEM. */
export function signed(statement: object, key: string): object {
  const payload = Buffer.from(JSON.stringify(statement));
  const open = `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `;
  const secret = createPrivateKey(key);
  const keyid = hash('sha256', createPublicKey(secret).export({ type: 'spki', format: 'der' }));
  const sig = sign(null, Buffer.concat([Buffer.from(open), payload]), secret).toString('base64');
  return { payloadType: PAYLOAD_TYPE, payload: payload.toString('base64'), signatures: [{ keyid, sig }] };
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { builder: { type: 'string' }, key: { type: 'string' } },
  });
  const { builder, key } = values;
  const git = (...args: readonly string[]): string =>
    execFileSync('git', [...args], { cwd: root, encoding: 'utf8' }).trim();
  if (builder === undefined || positionals.length === 0)
    throw new Error('name the files of the release, and --builder URI');
  // The files of the release itself are untracked.
  if (git('status', '--porcelain', '--untracked-files=no') !== '')
    throw new Error('the working tree has changes: commit them, or build from a clean checkout');
  const statement = provenanceOf({
    files: positionals.map((file) => ({ name: basename(file), bytes: readFileSync(file) })),
    commit: git('rev-parse', 'HEAD'),
    builder,
    finishedOn: new Date().toISOString(),
    node: process.version,
    lockfile: readFileSync(new URL('package-lock.json', root)),
  });
  const told = key === undefined ? statement : signed(statement, readFileSync(key, 'utf8'));
  process.stdout.write(`${JSON.stringify(told, undefined, 2)}\n`);
}

if (import.meta.main) main();
