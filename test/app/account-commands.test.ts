import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAccount } from '../../src/app/cli/account/account-cli.ts';
import type { AccountIo } from '../../src/app/commands/account/account-session.ts';
import { commandNodes } from '../../src/app/completion/command-tree.ts';
import { aVenue } from '../simulator/client.ts';
import type { VenueUnderTest } from '../simulator/client.ts';
import { run, steady } from './account/support.ts';
import type { Ran } from './account/support.ts';

let folder = '';
let venue: VenueUnderTest;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-account-'));
  venue = await aVenue({
    seed: 'golden',
    limits: { enforced: false },
    accounts: [
      {
        name: 'desk',
        balances: { usd: '100000', btc: '2', eth: '10' },
        users: [{ name: 'treasurer', token: 'sim-treasurer' }],
      },
    ],
    pts: { modes: { btcusd: 'Enabled', ethusd: 'Reduce_Only' } },
  });
});
afterAll(async () => {
  await venue.close();
  rmSync(folder, { recursive: true });
});

const account = async (line: string, token = venue.tokens[0] ?? '', answer?: () => string): Promise<Ran> =>
  await run([...line.split(' '), '--base-url', venue.baseUrl], {
    cwd: folder,
    env: { TRANCHE_OPERATOR_TOKEN: token },
    ...(answer === undefined ? {} : { answer }),
  });

const transcript = (line: string, { code, out, err }: Ran): string =>
  steady(`$ tranche account ${line}\n${out}${err === '' ? '' : `--- stderr\n${err}`}--- exit ${code}\n`);

const slug = (line: string): string => line.replaceAll(/[^a-z0-9]+/gu, '-').replaceAll(/^-|-$/gu, '');

/** Runs in this order: each command sees the effects of the previous ones. */
const lines = [
  'balances',
  'balances --json',
  'balances --csv',
  'currencies',
  'pairs',
  'fees',
  'fees --json',
  'quote btcusd buy --quantity 0.5',
  'quote ethusd sell --amount 300 --json',
  'withdraw usd 250.05 --wire --yes --json',
  'buy btcusd --quantity 0.5 --yes',
  'buy btcusd --amount 90000 --yes --json',
  'sell ethusd --quantity 1 --limit 3000 --yes',
  'sell ethusd --quantity 1 --limit 3000.01 --yes',
  'transactions',
  'transactions --types buy,sell --limit 2',
  'transactions --types deposit --json',
  'trades',
  'trades --json',
  'orders open',
  'orders done',
  'orders done --side sell --csv',
  'history',
  'history --hourly --json',
  'pts rates',
  'pts modes',
  'pts metrics',
  'pts positions',
  'pts positions --csv',
  'pts interest',
  'deposit-address btc',
  'withdraw-fee btc',
  'withdraw-fee usd --channel international --csv',
  'withdraw btc 0.5 --address bc1qexample0001 --memo rent --yes',
  'withdraw usd 999.99 --yes',
  'transactions --types withdraw --pending',
  'whitelist list',
  'whitelist add btc bc1qexample0002 --alias =1+1 --yes',
  'whitelist list --csv',
  'approval-rules list',
  'approval-rules add WITHDRAW --approvals 1 --threshold 1000 --yes',
  'approval-rules list --json',
  'approval-rules requests',
  'cancel --all',
];

describe('tranche account', () => {
  it.each(lines)('prints the output of its golden file: %s', async (line) => {
    const ran = await account(line);
    await expect(transcript(line, ran)).toMatchFileSnapshot(`account/golden/${slug(line)}.txt`);
  });

  it('lists open orders, shows one by its id, and cancels one, several or all orders', async () => {
    const place = async (): Promise<string> => {
      const body = `{"currency_pair":"btcusd","algorithm_id":201,"quantity":0.01,"price":70000}`;
      const { body: order } = await venue.post('/v1/orders/sell', body);
      return String((order as { readonly id: number }).id);
    };
    const [one, two, three, four] = [await place(), await place(), await place(), await place()];

    const open = await account('orders open --csv');
    expect(
      open.out
        .split('\r\n')
        .slice(1, -1)
        .map((row) => row.split(',')[0]),
    ).toEqual([four, three, two, one]);
    const shown = await account(`orders show ${one} --json`);
    expect(JSON.parse(shown.out)).toMatchObject({ id: one, pair: 'btcusd', side: 'sell', quantity: '0.01', price: '70000', status: 'Started' }); // prettier-ignore
    expect(await account(`cancel ${one} --json`)).toMatchObject({ code: 0, out: `{"id":"${one}","status":"canceled"}\n` }); // prettier-ignore
    expect((await account(`cancel ${one} --json`)).out).toContain('order already finished');
    const several = await account(`cancel ${one} ${two} --csv`);
    expect(several.out).toBe(`id,status\r\n${two},Canceled\r\n`);
    expect(several.err).toContain(`Not canceled (done, already canceled or unknown): ${one}`);
    expect((await account('cancel --all --csv')).out.split('\r\n').length).toBe(4);
    expect((await account('orders open')).out).toBe('No open orders.\n');
    expect(await account('cancel 17')).toMatchObject({ code: 69, err: 'The account has no order 17.\n' });
  });

  it('lets a second person list and approve a proposed rule, and rejects a later decision', async () => {
    const waiting = await account('approval-rules requests --json', 'sim-treasurer');
    const { id } = JSON.parse(waiting.out.split('\n')[0] ?? '') as { readonly id: string };

    const done = await account(`approval-rules approve ${id} --yes`, 'sim-treasurer');

    expect(done).toMatchObject({ code: 0, out: '' });
    expect(done.err).toContain(`Request ${id} was approved.`);
    const again = await account(`approval-rules refuse ${id} --yes`, 'sim-treasurer');
    expect(again).toMatchObject({ code: 64, err: `no request ${id} waits for approval\n` });
  });

  it('removes an address from the whitelist', async () => {
    const { out } = await account('whitelist list --json');
    const { id } = JSON.parse(out.split('\n')[0] ?? '') as { readonly id: string };
    expect((await account(`whitelist remove ${id} --yes`)).err).toContain('was removed');
    expect((await account('whitelist list')).out).toBe('The whitelist is empty.\n');
  });

  it('trades and withdraws only if the person types yes', async () => {
    const before = (await account('balances --json')).out;
    const questions: string[] = [];
    for (const line of ['sell ethusd --quantity 1', 'withdraw btc 0.1 --address bc1qexample']) {
      for (const said of ['', 'y', 'no', 'yes please']) {
        const ran = await account(line, undefined, () => said);
        questions.push(ran.err);
        expect(ran).toMatchObject({ code: 0, out: '' });
        expect(ran.err).toContain('Nothing was done.');
      }
    }
    expect((await account('balances --json')).out).toBe(before);
    expect(questions[0]).toContain(
      'Sell 1 eth (one eth)\nfor 3000 usd (three thousand usd)\nat 3000 usd each.',
    );
    expect((await account('sell ethusd --quantity 1', undefined, () => ' YES\n')).code).toBe(0);
    expect((await account('balances --json')).out).not.toBe(before);
  });

  it('sends no order, withdrawal or rule without --yes if there is no terminal to ask for confirmation', async () => {
    const before = (await account('balances --json')).out;
    for (const line of [
      'buy ethusd --quantity 1',
      'sell ethusd --quantity 1',
      'withdraw btc 0.1 --address bc1qexample',
      'whitelist add btc bc1qexample',
      'approval-rules add ADD_ALTER_COLL --approvals 1',
    ]) {
      const ran = await account(line);
      expect(ran).toMatchObject({ code: 64, out: '' });
      expect(ran.err).toContain('add --yes, or run it in a terminal');
    }
    expect((await account('balances --json')).out).toBe(before);
    expect((await account('whitelist list')).out).toBe('The whitelist is empty.\n');
  });
});

/** Every command with valid and with invalid arguments. */
const commands: readonly (readonly [right: string, wrong: string])[] = [
  ['balances', 'balances btc'],
  ['currencies', 'currencies --limit 1'],
  ['pairs', 'pairs x'],
  ['fees', 'fees --csv --json'],
  ['transactions', 'transactions --limit 1001'],
  ['trades', 'trades --limit none'],
  ['history', 'history --from yesterday'],
  ['deposit-address btc', 'deposit-address BTC'],
  ['quote btcusd buy --quantity 1', 'quote btcusd buy --quantity 1 --amount 2'],
  ['buy btcusd --quantity 1 --yes', 'buy btcusd --quantity -1 --yes'],
  ['sell btcusd --quantity 1 --yes', 'sell btcusd --quantity 1 --client-id tr-a --yes'],
  ['orders open', 'orders open --side up'],
  ['orders done', 'orders done --limit 51'],
  ['orders show 1', 'orders show a/b'],
  ['cancel 1', 'cancel 1 --all'],
  ['withdraw btc 1 --address bc1qx --yes', 'withdraw btc 1 --yes'],
  ['withdraw-fee btc', 'withdraw-fee btc --channel domestic'],
  ['approval-rules list', 'approval-rules lost'],
  ['approval-rules add ALTER_SAFE --approvals 1 --yes', 'approval-rules add WITHDRAW --approvals 1 --yes'],
  ['approval-rules edit 1 --approvals 1 --yes', 'approval-rules edit 1 --yes'],
  ['approval-rules requests', 'approval-rules requests --pending'],
  ['approval-rules approve 1 --yes', 'approval-rules approve --yes'],
  ['approval-rules refuse 1 --yes', 'approval-rules refuse 1 2 --yes'],
  ['whitelist list', 'whitelist'],
  ['whitelist add btc bc1qx --yes', 'whitelist add btc --yes'],
  ['whitelist remove 1 --yes', 'whitelist remove --yes'],
  ['pts rates', 'pts rate'],
  ['pts modes', 'pts modes x'],
  ['pts metrics', 'pts metrics --pair btcusd'],
  ['pts positions', 'pts positions --pair BTC/USD'],
  ['pts interest', 'pts interest --limit 0'],
  ['sync --store never.db', 'sync --from now'],
];

/** Every command of `tranche account` that sends requests to the venue, from the command line itself. */
function ofVenue(): readonly string[] {
  const program = new Command('tranche');
  addAccount(program, { io: {} as AccountIo, done: () => undefined });
  return commandNodes(program)
    .filter(({ options }) => options.some(({ flag }) => flag === '--base-url'))
    .map(({ path }) => path.replace('account ', ''));
}

/** The words between backquotes in each row of the table of commands in docs/account.md. */
const rows = readFileSync(new URL('../../docs/account.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => new Set([...(line.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/gu)].flatMap(([, code = '']) => code.split(/[ \\|]+/u)))); // prettier-ignore

/** Places in which every command must appear, with a check of each. */
const places: Readonly<Record<string, (name: string) => boolean>> = {
  'docs/account.md: a row in the table of commands': (name) =>
    rows.some((row) => name.split(' ').every((word) => row.has(word))),
  'test/app/account-commands.test.ts: an entry of commands': (name) =>
    commands.some(([right]) => `${right} `.startsWith(`${name} `)),
};

const missing = (name: string): readonly string[] =>
  Object.entries(places).flatMap(([place, holds]) => (holds(name) ? [] : [`${place}: ${name}`]));

describe('the lists of account commands', () => {
  it('contain every account command that sends requests to the venue', () => {
    const all = ofVenue();
    expect(all).toContain('pts modes');
    expect(all.flatMap(missing)).toEqual([]);
  });

  it('are reported with their location if a command is missing', () => {
    expect(missing('trial')).toEqual([
      'docs/account.md: a row in the table of commands: trial',
      'test/app/account-commands.test.ts: an entry of commands: trial',
    ]);
  });
});

describe.each(commands)('tranche account %s', (right, wrong) => {
  it('exits with 78 without a token', async () => {
    const ran = await run([...right.split(' '), '--base-url', venue.baseUrl], { cwd: folder });
    expect(ran).toMatchObject({ code: 78, out: '' });
    expect(ran.err).toContain('No operator token: set TRANCHE_OPERATOR_TOKEN');
  });

  it('exits with 69 for a wrong token and does not show it', async () => {
    const ran = await account(right, 'sim-wrong-token');
    expect(ran).toMatchObject({ code: 69, out: '' });
    expect(ran.err).toMatch(/The venue rejected this token: [^.]*\. [^.]*\. Set /u);
    expect(ran.err).not.toContain('sim-wrong-token');
  });

  it(`exits with 64 for invalid arguments: ${wrong}`, async () => {
    const ran = await account(wrong);
    expect(ran).toMatchObject({ code: 64, out: '' });
    expect(ran.err).not.toMatch(/ at .*\.ts:/u);
    expect(ran.err.length).toBeGreaterThan(10);
  });

  it('exits with 69 if the venue does not respond', async () => {
    // Port 9 (discard): no process listens there.
    const ran = await run([...right.split(' '), '--base-url', 'http://127.0.0.1:9'], {
      cwd: join(folder, 'elsewhere'),
      env: { TRANCHE_OPERATOR_TOKEN: 'sim-any' },
    });
    expect(ran).toMatchObject({ code: 69, out: '' });
    expect(ran.err).toContain('did not respond (connect). Nothing was changed.');
  });
});

describe('the venue address and the token of account commands', () => {
  it('come from a config and from a token file that only its owner can read', async () => {
    const { writeFileSync } = await import('node:fs');
    writeFileSync(
      join(folder, 'live.yaml'),
      `venue:\n  base_url: '${venue.baseUrl}'\n  token: '\${TRANCHE_TOKEN}'\n`,
    );
    writeFileSync(join(folder, 'token'), `${venue.tokens[0] ?? ''}\n`, { mode: 0o600 });
    const args = ['balances', '--config', 'live.yaml', '--token-file', 'token'];
    expect(await run(args, { cwd: folder })).toMatchObject({ code: 0, err: '' });

    writeFileSync(join(folder, 'open'), 'x', { mode: 0o644 });
    const open = await run(['balances', '--config', 'live.yaml', '--token-file', 'open'], { cwd: folder });
    expect(open).toMatchObject({ code: 78, out: '' });
    expect(open.err).toContain('chmod 600');
    expect(await run(['balances'], { cwd: folder, env: { TRANCHE_OPERATOR_TOKEN: 'x' } })).toMatchObject({ code: 78 }); // prettier-ignore
  });

  it('do not come from TRANCHE_TOKEN, the variable of the desk', async () => {
    const env = { TRANCHE_TOKEN: venue.tokens[0] ?? '' };
    expect(await run(['balances', '--base-url', venue.baseUrl], { cwd: folder, env })).toMatchObject({ code: 78 }); // prettier-ignore
  });

  it('are not used over unencrypted HTTP', async () => {
    const env = { TRANCHE_OPERATOR_TOKEN: 'x' };
    const ran = await run(['balances', '--base-url', 'http://venue.example'], { cwd: folder, env });
    expect(ran).toMatchObject({ code: 78 });
    expect(ran.err).toContain('https://');
  });
});
