import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { journalVerify } from '../../../src/app/commands/journal/journal-verify.ts';
import type { PersonRecord } from '../../../src/core/record.ts';
import type { StrategySource } from '../../../src/engine/state/strategy-source.ts';
import { MINUTE_MS } from '../../../src/core/time.ts';
import type { memoryJournal } from '../../../src/journal/memory.ts';
import { sqliteJournal } from '../../../src/journal/sqlite/sqlite.ts';
import { approvalsOf, files, tell } from '../../engine/approval-desk.ts';
import { aTwap, started } from '../../engine/harness.ts';
import { appendNow } from '../../journal/records.ts';
import { aPasskey } from '../../operate/sign-in/soft-passkey.ts';
import { served } from '../api/served.ts';
import { aFolder } from '../../support/folder.ts';
import { streamed } from '../../support/streams.ts';

const approvals = approvalsOf({ parents_above: '50000', passkey: 'required' });

const PAGE = { origin: 'http://localhost:8321', rp_id: 'localhost' };

/** Runs `journal verify --approvals` on a journal of these records. */
async function verified(records: ReturnType<ReturnType<typeof memoryJournal>['read']>, json = false) {
  const folder = aFolder();
  const file = join(folder, 'j.db');
  const journal = sqliteJournal(file);
  for (const { body, at } of records) appendNow(journal, [body], at);
  journal.close();
  const { code, stdout, stderr } = await streamed(
    async (out) => await journalVerify(`sqlite:${file}`, { approvals: true, json }, out),
  );
  return { code, told: stdout + stderr };
}

describe('an approval by passkey over the API', () => {
  it('requires a signature of exactly that request, and can be verified from a copy of the journal', async () => {
    const key = aPasskey();
    let sources: readonly StrategySource[] = [];
    const policy = { approvals, areLimitsKept: true };
    const bench = started({ strategies: [], policy, files: files(() => sources) });
    const enrol = (step: 'invited' | 'enrolled'): PersonRecord => ({
      kind: 'person',
      person: 'approver@desk',
      step,
      role: 'approver',
      by: 'local (cli:root)',
      why: 'new',
      ...(step === 'invited' ? { token: { name: 'local', kind: 'machine' as const } } : {}),
      ...(step === 'enrolled'
        ? { passkey: { id: key.id, public_key: key.publicKey, counter: 0, ...PAGE } }
        : {}),
    });
    for (const step of ['invited', 'enrolled'] as const) bench.tell({ do: 'person', record: enrol(step) });
    bench.run(MINUTE_MS);
    sources = [aTwap('t')];
    tell(bench, 'ann', { do: 'reload' });
    const { ask, send } = await served(bench);
    const { body } = await ask('/api/v1/approvals?state=open', 'approver');
    const [{ id, hash }] = body['items'] as readonly [{ id: string; hash: string }];
    const assertionOf = (signs: string): object => {
      const challenge = Buffer.from(signs, 'hex').toString('base64url');
      const made = key.assert({ challenge, origin: 'http://localhost:8321', rpId: 'localhost' }) as {
        response: { authenticatorData: string; clientDataJSON: string; signature: string };
      };
      const { authenticatorData, clientDataJSON, signature } = made.response;
      return {
        credential_id: key.id,
        authenticator_data: authenticatorData,
        client_data_json: clientDataJSON,
        signature,
      };
    };
    const approve = async (more: object) =>
      await send('/api/v1/approvals/approve', { id, hash, why: 'seen', ...more }, 'approver');
    expect(await approve({})).toMatchObject({ status: 409 });
    expect(await approve({ assertion: assertionOf('0'.repeat(64)) })).toMatchObject({ status: 409 });
    expect(await approve({ assertion: { ...assertionOf(hash), signature: 'not base64!' } })).toMatchObject({
      status: 400,
    });
    expect(await approve({ assertion: assertionOf(hash) })).toMatchObject({
      status: 200,
      body: { says: `${id} is approved` },
    });
    bench.run(3 * MINUTE_MS);
    expect(bench.bodies('fill')).not.toEqual([]);

    const good = await verified(bench.records());
    expect([good.code, good.told]).toEqual([
      0,
      expect.stringContaining('Approvals that hold: 1; signed by a passkey: 1;'),
    ]);
    const { told: json } = await verified(bench.records(), true);
    expect(JSON.parse(json)).toMatchObject({
      approvals: [{ request: 'ap-1', proof: 'passkey' }],
    });
    const forged = bench.records().map((stored) =>
      stored.body.kind === 'approval' && stored.body.step === 'approved'
        ? {
            ...stored,
            body: { ...stored.body, by: 'bob', token: { name: 'bob', kind: 'person' as const } },
          }
        : stored,
    );
    const bad = await verified(forged);
    expect(bad.code).toBe(65);
    expect(bad.told).toMatch(/record \d+ \(ap-1\), by bob: the passkey does not belong to bob/u);
  });
});
