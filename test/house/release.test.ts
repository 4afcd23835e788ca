import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { provenanceOf, signed } from '../../scripts/provenance.ts';

const release = {
  files: [{ name: 'tranche-0.1.0.tgz', bytes: Buffer.from('a package') }],
  commit: 'a'.repeat(40),
  builder: 'https://ci.example/tranche',
  finishedOn: '2026-12-01T00:00:00.000Z',
  node: 'v26.10.0',
  lockfile: Buffer.from('{}'),
};
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the provenance of a release', () => {
  it('is an in-toto statement with the builder and the hashes of the files, the commit and the lockfile', () => {
    expect(provenanceOf(release)).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'tranche-0.1.0.tgz', digest: { sha256: sha256('a package') } }],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          resolvedDependencies: [
            { name: 'source', digest: { gitCommit: release.commit } },
            { name: 'package-lock.json', digest: { sha256: sha256('{}') } },
          ],
        },
        runDetails: { builder: { id: release.builder } },
      },
    });
  });

  it('is signed according to DSSE, so that a changed statement does not verify', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const envelope = signed(provenanceOf(release), key);
    expect(envelope).toMatchObject({ payloadType: 'application/vnd.in-toto+json' });
    const { payload, signatures } = envelope as { payload: string; signatures: { sig: string }[] };
    const holds = (statement: Buffer): boolean => {
      const said = `DSSEv1 28 application/vnd.in-toto+json ${statement.length} `;
      const bytes = Buffer.concat([Buffer.from(said), statement]);
      return verify(null, bytes, publicKey, Buffer.from(signatures[0]?.sig ?? '', 'base64'));
    };
    const statement = Buffer.from(payload, 'base64');
    expect(holds(statement)).toBe(true);
    expect(holds(Buffer.from(statement.toString().replace('ci.example', 'ci.exampel')))).toBe(false);
  });
});
