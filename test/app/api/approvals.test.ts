import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../src/core/time.ts';
import type { Role } from '../../../src/operate/access.ts';
import { approvalsOf } from '../../engine/approval-desk.ts';
import { aTwap, started } from '../../engine/harness.ts';
import { served } from './served.ts';
import type { ServedBench } from './served.ts';

const approvals = approvalsOf({ parents_above: '50000' });

async function aDesk(): Promise<ServedBench & { readonly traded: (minutes: number) => number }> {
  const bench = started({ strategies: [aTwap('t')], policy: { approvals } }, MINUTE_MS);
  return {
    ...(await served(bench)),
    traded(minutes) {
      bench.run(minutes * MINUTE_MS);
      return bench.bodies('fill').length;
    },
  };
}

interface Item {
  readonly id: string;
  readonly hash: string;
  readonly may_i: string;
  readonly state: string;
  readonly approved_by: readonly string[];
}
const first = async ({ ask }: ServedBench, as: Role): Promise<Item | undefined> =>
  ((await ask('/api/v1/approvals?state=open', as)).body['items'] as readonly Item[])[0];

describe('/api/v1/approvals', () => {
  it('lists open requests, who must approve them, and whether the caller may', async () => {
    const desk = await aDesk();
    expect(await first(desk, 'viewer')).toMatchObject({
      id: 'ap-1',
      kind: 'parent',
      strategy: 't',
      state: 'open',
      count: 2,
      approved_by: [],
      may_i: 'no: it requires the approver role, not the viewer role',
      may_reject: 'no: it requires the operator role, not the viewer role',
    });
    expect((await first(desk, 'approver'))?.may_i).toBe('yes');
    expect((await first(desk, 'admin'))?.may_i).toBe('yes');
    expect(await first(desk, 'operator')).toMatchObject({
      may_i: 'no: it requires the approver role, not the operator role',
      may_reject: 'yes',
    });
    const { body } = await desk.ask('/api/v1/status');
    expect(body).toMatchObject({ strategies: [{ id: 't', waits_for_approval: 'ap-1' }] });
    const listed = await desk.ask('/api/v1/strategies');
    expect(listed.body).toMatchObject({ items: [{ id: 't', waits_for_approval: 'ap-1' }] });
    expect(JSON.stringify(body)).toContain('ap-1: buy btcusd by strategy t');
  });

  it('accepts an approval only from a permitted caller and with the hash of the request', async () => {
    const desk = await aDesk();
    const { hash = '' } = (await first(desk, 'approver')) ?? {};
    const send = async (body: object, as: Role) =>
      (await desk.send('/api/v1/approvals/approve', { id: 'ap-1', why: 'w', ...body }, as)).status;
    expect(await send({ hash }, 'viewer')).toBe(403);
    expect(await send({ hash }, 'operator')).toBe(403);
    expect(await send({ hash: 'f'.repeat(64) }, 'approver')).toBe(409);
    expect(await send({}, 'approver')).toBe(400);
    expect(await send({ hash, by: 'bob' }, 'approver')).toBe(200);
    expect(await send({ hash }, 'approver')).toBe(409);
    expect((await first(desk, 'viewer'))?.approved_by).toEqual(['approver@desk']);
    expect(desk.traded(1)).toBe(0);
    expect(await send({ hash }, 'admin')).toBe(200);
    expect(desk.traded(3)).toBeGreaterThan(0);
  });

  it('lets one operator reject a request', async () => {
    const desk = await aDesk();
    const { hash = '' } = (await first(desk, 'approver')) ?? {};
    const rejection = { id: 'ap-1', hash, why: 'too large' };
    const refused = await desk.send('/api/v1/approvals/reject', rejection, 'operator');
    expect(refused).toMatchObject({ status: 200, body: { says: 'ap-1 is rejected' } });
    expect(desk.traded(12)).toBe(0);
  });

  it('returns pages and rejects unknown parameters', async () => {
    const { ask } = await aDesk();
    expect((await ask('/api/v1/approvals?limit=1')).body).not.toHaveProperty('next');
    expect((await ask('/api/v1/approvals?after=ap-1')).body).toEqual({ items: [] });
    expect((await ask('/api/v1/approvals?sate=open')).status).toBe(400);
  });
});
