import { describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { fieldsOf, listOf } from './support/json.ts';
import type { Fields } from './support/json.ts';
import { aName, aNumber, anInteger, aTime, exactly, expectShape } from './support/shapes.ts';
import { expectError, expectGood, leversOf, useVenue } from './support/target.ts';

const ADDRESSES = [11, 12, 13, 14, 15];
const venue = useVenue({
  accounts: [
    { name: 'desk', balances: { usd: '1' }, addresses: ADDRESSES },
    { name: 'other', balances: {} },
  ],
  custody: { rules: [{ ruleType: 'WITHDRAW', requiredApprovals: 1, threshold: '5000.5' }] },
});
const closed = useVenue({ accounts: [{ name: 'desk', custody: false, balances: { usd: '1' } }] });

const FIELDS = [
  ['id', anInteger],
  ['available_approver_count', anInteger],
  ['date_added', aTime],
  ['required_approvals', anInteger],
  ['rule_type', aName],
  ['status', aName],
  ['threshold', aNumber],
] as const;

/** The rules; skips the test without custody access. */
async function rules(context: TestContext): Promise<readonly Fields[]> {
  const answer = await venue.get('/v1/approval-rules');
  if (venue.own === undefined && answer.status === 403)
    context.skip('skipped: the account has no custody access');
  return listOf(fieldsOf(expectGood(answer, 200).body)['data']);
}

describe('GET /v1/approval-rules', () => {
  it('answers 200 with only data', async (context) => {
    await rules(context);
    const { body } = await venue.get('/v1/approval-rules');
    expect(Object.keys(fieldsOf(body))).toStrictEqual(['data']);
  });

  it.for(FIELDS)('writes %s of every rule as specified', async ([field, shape], context) => {
    const all = await rules(context);
    if (all.length === 0) context.skip('skipped: the account has no approval rule');
    for (const rule of all) expectShape(rule, field, shape);
  });

  it('writes no field that the specification does not name', async (context) => {
    leversOf(venue, context, 'another server may tell more than the specification');
    const [rule = {}] = await rules(context);
    expect(Object.keys(rule).toSorted()).toStrictEqual(FIELDS.map(([field]) => field).toSorted());
  });

  it('gives the rule for withdrawals the type WITHDRAW', async (context) => {
    leversOf(venue, context, 'needs a rule for withdrawals');
    expectShape((await rules(context))[0] ?? {}, 'rule_type', exactly('WITHDRAW'));
  });

  it('gives the rule the status Pending Approval', async (context) => {
    leversOf(venue, context, 'another server may have a rule in force');
    expectShape((await rules(context))[0] ?? {}, 'status', exactly('Pending Approval'));
  });

  it('refuses an account without custody access', async (context) => {
    leversOf(closed, context, 'needs an account without custody access');
    expectError(await closed.get('/v1/approval-rules'), 403);
  });
});

describe('DELETE /v1/whitelisted-addresses/:address_id', () => {
  const why = 'adding an address is beyond the specification';
  const path = '/v1/whitelisted-addresses';
  const left = [...ADDRESSES];
  const anAddress = (): string => String(left.pop());

  it('answers 200 with an empty JSON object', async (context) => {
    leversOf(venue, context, why);
    const answer = await venue.delete(`${path}/${anAddress()}`);
    expect([answer.status, answer.text.trim()]).toStrictEqual([200, '{}']);
  });

  it('does not remove other addresses', async (context) => {
    leversOf(venue, context, why);
    const stays = anAddress();
    await venue.delete(`${path}/${anAddress()}`);
    expect((await venue.delete(`${path}/${stays}`)).status).toBe(200);
  });

  it('refuses an address that was already removed', async (context) => {
    leversOf(venue, context, why);
    const id = anAddress();
    await venue.delete(`${path}/${id}`);
    expectError(await venue.delete(`${path}/${id}`), [400, 499]);
  });

  it('refuses the address of another account', async (context) => {
    const own = leversOf(venue, context, 'needs a second account');
    const id = anAddress();
    expectError(await venue.delete(`${path}/${id}`, own.as(1)), [400, 499]);
    expect((await venue.delete(`${path}/${id}`)).status).toBe(200);
  });

  it('refuses an unknown id', async () => {
    expectError(await venue.delete(`${path}/999999999`), [400, 499]);
  });

  it('refuses an id that is not an integer', async () => {
    expectError(await venue.delete(`${path}/first`), [400, 499]);
  });
});
