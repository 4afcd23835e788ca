import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { aFolder, put } from '../../support/folder.ts';
import { finish } from '../../system/support/program.ts';
import { wideControls } from '../../system/support/desk.ts';
import { addAuthenticator } from './authenticator.ts';
import { aBrowser, accessProblems, noBrowser, openPage, sizes } from './dashboard-page.ts';
import { aPaperDesk } from './paper-desk.ts';
import type { PaperDesk } from './paper-desk.ts';

/** Parents above 50,000 usd need two other people; every other request needs no approval. */
const operate = {
  listen: '127.0.0.1:0',
  approvals: { for: [], parents_above: { amount: '50000', currency: 'usd' }, count: 2, passkey: 'required' },
};

/** Buys two bitcoins, worth about 120,000 usd, as soon as its file is loaded. */
const large = (id: string): object => ({
  id,
  kind: 'twap',
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: '2', currency: 'btc' },
  duration: 'PT60S',
  slices: 30,
  catch_up: 'pace',
});

interface GuardedDesk extends PaperDesk {
  readonly folder: string;
  readonly write: (strategy: object) => void;
}

async function aGuardedDesk(): Promise<GuardedDesk> {
  const folder = aFolder();
  const write = (strategy: object): void => {
    put(folder, { [`strategies/${(strategy as { id: string }).id}.yaml`]: JSON.stringify(strategy) });
  };
  write({ ...large('small'), total_quantity: { amount: '0.06', currency: 'btc' } });
  const config = {
    desk: 'main',
    mode: 'paper',
    venue: {
      capabilities: { balances: true, pairs: true, order_lookup: true, ticker: true, account_feed: true },
      sell_path: '/v1/orders/sell',
      simulated: {
        seed: 7,
        accounts: [{ name: 'main', balances: { usd: '5000000', btc: '31' } }],
        pairs: { btcusd: { start_price: '60000' } },
      },
    },
    controls: wideControls,
    in_doubt: { booking_margin: 'PT2S' },
    journal: `sqlite:${join(folder, 'desk.db')}`,
    strategies: './strategies',
    operate,
  };
  put(folder, { 'desk.yaml': JSON.stringify(config) });
  return { ...(await aPaperDesk(join(folder, 'desk.yaml'))), folder, write };
}

/** Sends a command with the session of this page, without its buttons, and returns the answer of the desk. */
async function sent(page: Page, path: string, body: object): Promise<{ status: number; says: string }> {
  return await page.evaluate<{ status: number; says: string }>(`(async () => {
    const { csrf } = await (await fetch('/api/v1/me')).json();
    const response = await fetch('/api/v1/${path}', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tranche': '1', 'x-tranche-csrf': csrf },
      body: ${JSON.stringify(JSON.stringify(body))},
    });
    const { says, error } = await response.json();
    return { status: response.status, says: says ?? error };
  })()`);
}

const requests = (page: Page) => ({
  open: async (id: string): Promise<void> => {
    await page.goto(`${new URL(page.url()).origin}/#/approvals?id=${id}`);
    await page.locator('section', { hasText: 'Approved by' }).first().waitFor();
  },
  button: (name: string) => page.locator('main').getByRole('button', { name }),
  /** Confirms the dialog that a button opens. */
  confirm: async (name: string, why: string): Promise<void> => {
    await page.getByRole('dialog').getByLabel('Reason').fill(why);
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  },
});

describe.skipIf(noBrowser !== undefined)(`approvals in the dashboard ${noBrowser ?? ''}`, () => {
  const browser = aBrowser();

  /** A person with a passkey in a browser of their own. */
  const enrolled = async (desk: PaperDesk, name: string, role: 'viewer' | 'approver') => {
    const opened = await openPage(browser(), sizes.wide);
    await addAuthenticator(opened.page);
    await opened.page.goto(await desk.invite(name, role));
    await opened.page.getByRole('button', { name: 'Make a passkey' }).click();
    await opened.page.waitForURL(`${desk.url}/`);
    await opened.page.getByRole('button', { name: 'Halt', exact: true }).waitFor();
    return { ...opened, ...requests(opened.page) };
  };

  it('let two people approve a parent with passkeys and refuse the person who proposed it', async () => {
    const desk = await aGuardedDesk();
    const ann = await enrolled(desk, 'ann', 'approver');
    const bob = await enrolled(desk, 'bob', 'approver');
    const cat = await enrolled(desk, 'cat', 'approver');
    const vic = await enrolled(desk, 'vic', 'viewer');

    // Ann starts a parent above the amount. It waits.
    desk.write(large('large'));
    expect(await sent(ann.page, 'reload', { why: 'the order of the day' })).toMatchObject({ status: 200 });
    await ann.open('ap-1');
    await ann.page.getByText('ann has proposed it: another person must approve it').waitFor();
    expect(await ann.button('Approve…').count()).toBe(0);
    expect(await ann.button('Reject…').count()).toBe(1);
    const [request] = await ann.page.evaluate<readonly { hash: string; proposed_by: string }[]>(
      `fetch('/api/v1/approvals?state=open').then((read) => read.json()).then(({ items }) => items)`,
    );
    const { hash = '', proposed_by: initiator } = request ?? {};
    expect(initiator).toBe('ann');
    expect(await sent(ann.page, 'approvals/approve', { id: 'ap-1', hash, why: 'mine' })).toEqual({
      status: 409,
      says: expect.stringContaining('another person must approve it') as string,
    });

    // A viewer sees the required role and no buttons.
    await vic.open('ap-1');
    await vic.page.getByText('it requires the approver role, not the viewer role').waitFor();
    expect(await vic.page.locator('main .answers button').count()).toBe(0);
    expect(await accessProblems(vic.page)).toStrictEqual([]);

    // Bob sees the request; his session without a passkey signature is not enough.
    await bob.open('ap-1');
    expect(await accessProblems(bob.page)).toStrictEqual([]);
    expect(await sent(bob.page, 'approvals/approve', { id: 'ap-1', hash, why: 'typed' })).toMatchObject({
      status: 409,
      says: expect.stringContaining('passkey') as string,
    });
    await bob.button('Approve…').click();
    await bob.confirm('Approve', 'agreed with treasury');
    await bob.page.getByText('1 of 2: bob').waitFor();
    await bob.page.getByText('bob has approved it already').waitFor();
    expect((await desk.command('why', '--strategy', 'large')).stdout).toContain(
      'large: waits for approval ap-1 (2 other people)',
    );

    await cat.open('ap-1');
    await cat.button('Approve…').click();
    await cat.confirm('Approve', 'seen the price');
    await cat.page.goto(`${desk.url}/#/slices?strategy=large`);
    await cat.page.locator('tbody .tag', { hasText: 'filled' }).first().waitFor();

    // Another request: one person rejects it, and the proposer reads the reason.
    desk.write(large('other'));
    expect(await sent(ann.page, 'reload', { why: 'one more' })).toMatchObject({ status: 200 });
    await bob.open('ap-2');
    await bob.button('Reject…').click();
    await bob.confirm('Reject', 'twice the same order');
    await ann.page.goto(`${desk.url}/#/approvals?state=all`);
    await ann.page.getByText('bob: twice the same order').waitFor();

    // The browser logs each refusal of the desk.
    const problems = [ann, bob, cat, vic].flatMap((one) => one.problems);
    expect(problems.filter((problem) => !/status of 40[19]/u.test(problem))).toStrictEqual([]);
    await desk.stop();
    const proof = await finish(['journal', 'verify', 'desk.db', '--approvals'], { cwd: desk.folder });
    expect([proof.code, proof.stdout]).toEqual([0, expect.stringContaining('signed by a passkey: 2')]);
  }, 120_000);
});
