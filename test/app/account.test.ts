import fc from 'fast-check';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountIo, addAccount, inWords } from '../../src/app/commands/account/account-call.ts';
import { fieldsOf, inKebab } from '../../src/app/commands/account/account-fields.ts';
import type { RouteField } from '../../src/app/commands/account/account-fields.ts';
import { printResponse } from '../../src/app/commands/account/account-print.ts';
import { instant, isoOf } from '../../src/core/time.ts';
import { readHistory } from '../../src/app/commands/journal/read-history.ts';
import { venueRoutes, routeNames } from '../../src/wire/routes.ts';
import type { VenueRoute } from '../../src/wire/routes.ts';
import { aVenue } from '../simulator/client.ts';
import type { VenueUnderTest } from '../simulator/client.ts';
import { systemClock } from '../simulator/world.ts';
import { expectRan, expectRefused, runLine } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aSharedFolder, put } from '../support/folder.ts';
import { http, rawServer } from '../venue/servers.ts';
import type { RawServer } from '../venue/servers.ts';

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Answers of the person at the terminal; without it, there is no terminal. */
  readonly answer?: (question: string) => string;
}

const run = async (args: readonly string[], { env = {}, cwd = '/', answer }: RunOptions = {}): Promise<Ran> =>
  await runLine(['account', ...args], {
    cwd,
    env,
    now: systemClock.wall(),
    add(cli, { io, done }) {
      const ask = answer && (async (question: string) => await Promise.resolve(answer(question)));
      addAccount(cli, { io: { ...accountIo(io, process), ask }, done });
    },
  });

const folder = aSharedFolder();
let venue: VenueUnderTest;
beforeAll(async () => {
  const accounts = [{ name: 'desk', balances: { usd: '100000', btc: '2', eth: '10' } }];
  venue = await aVenue({ limits: { enforced: false }, accounts });
});
afterAll(async () => {
  await venue.close();
});

const account = async (line: string, options: RunOptions & { token?: string } = {}): Promise<Ran> =>
  await run([...line.split(' '), '--base-url', venue.baseUrl], {
    cwd: folder,
    env: { TRANCHE_OPERATOR_TOKEN: options.token ?? venue.tokens[0] ?? '' },
    ...options,
  });
const parsed = async (line: string): Promise<unknown> => {
  const ran = await account(`${line} --json`);
  expect(ran.code).toBe(0);
  expect(ran.out).toMatch(/^[^\n]+\n$/u);
  return JSON.parse(ran.out);
};

const samples: Readonly<Record<RouteField['kind'], string>> = { id: 'x-1', text: 'btcusd', time: '2026-09-01T00:00:00Z', amount: '0.10000000000000000001', number: '1', flag: 'true', list: 'a,b' }; // prettier-ignore
/** Options that a route needs beyond those that its schema marks as required. */
const needs: Readonly<Record<string, string>> = {
  quote: '--quantity 0.5',
  buy: '--quote-id q-1 --quantity 0.5',
  sell: '--quote-id q-1 --amount 20.5',
};
const lineOf = (name: keyof typeof venueRoutes): string =>
  [
    inKebab(name),
    ...fieldsOf(venueRoutes[name])
      .filter((field) => field.isRequired && needs[name]?.includes(`--${inKebab(field.name)} `) !== true)
      .map((field) => `--${inKebab(field.name)} ${field.choices[0] ?? samples[field.kind]}`),
    needs[name] ?? '',
  ]
    .filter((part) => part !== '')
    .join(' ');
const lines = routeNames.map((name) => [lineOf(name), venueRoutes[name] as VenueRoute] as const);

const movers = lines.filter(([, { movesMoney }]) => movesMoney === true);

/** A venue that refuses every request. */
const refuser = async (): Promise<RawServer> =>
  await rawServer((socket) => {
    socket.on('data', () => socket.end(http('400 Bad Request', '{"error":"no"}')));
  });
const env = { TRANCHE_OPERATOR_TOKEN: 'sim-any' };

describe('tranche account', () => {
  it.each(lines)('%s sends one request to its route', async (line, { method, path, movesMoney }) => {
    const server = await refuser();
    const args = [...line.split(' '), '--base-url', server.url, ...(movesMoney === true ? ['--yes'] : [])];
    expectRefused(await run(args, { env }), 69, 'The venue refused the request: no.');
    const requests = server.received().match(/^[A-Z]+ \S+ HTTP/gmu) ?? [];
    expect(requests).toHaveLength(1);
    const pattern = new RegExp(`^${method} ${path.replaceAll(/:\w+/gu, '[^/?]+')}(?:\\?\\S*)? HTTP$`, 'u');
    expect(requests[0]).toMatch(pattern);
  });

  it.each(movers)('%s sends nothing without a confirmation', async (line) => {
    const server = await refuser();
    const args = [...line.split(' '), '--base-url', server.url];
    expectRefused(await run(args, { env }), 64, 'add --yes, or run it in a terminal');
    expectRefused(await run(args, { env, answer: () => 'y' }), 0);
    expect(server.connections()).toBe(0);
  });
});

describe('the routes', () => {
  it('ask for a confirmation wherever a request may change something, apart from a quote', () => {
    const others = routeNames.filter((name) => {
      const { method, movesMoney }: VenueRoute = venueRoutes[name];
      return method !== 'GET' && movesMoney !== true;
    });
    expect(others).toEqual(['quote']);
  });
});

describe('the commands of the account', () => {
  it('trade at a quote, and show the order, its rows and the new balances', async () => {
    const quote = await parsed('quote --pair btcusd --side buy --quantity 0.5');
    const { quote_id: id, amount } = quote as { quote_id: string; amount: string };
    const order = `--currency-pair btcusd --quote-id ${id} --quantity 0.5 --client-order-id op-1`;
    expect(await parsed(`buy ${order} --yes`)).toMatchObject({ filled: '0.5', filled_amount: amount, status: 'Done' }); // prettier-ignore
    expect(await parsed('order --id op-1')).toMatchObject({ quote_id: id, filled: '0.5' });
    expect(await parsed('balances')).toContainEqual(expect.objectContaining({ currency: 'btc', balance: '2.5', available: '2.5', held: '0' })); // prettier-ignore

    put(folder, { 'history.jsonl': (await account('transactions --json --from 2020-01-01T00:00:00Z')).out });
    expect(readHistory(join(folder, 'history.jsonl')).map((row) => [row.action, row.currency, row.amount, row.client_order_id])).toEqual(expect.arrayContaining([['buy', 'btc', '0.5', 'op-1'], ['deposit', 'eth', '10', '']])); // prettier-ignore
  });

  it('withdraw with every digit, and only if the person types yes', async () => {
    const questions: string[] = [];
    const line = 'withdraw --currency btc --amount 0.10000001 --address bc1qexample';
    for (const said of ['', 'y', 'no', 'yes please']) {
      const ran = await account(line, { answer: () => said });
      questions.push(ran.err);
      expect(ran).toMatchObject({ code: 0, out: '' });
    }
    expect(questions[0]).toBe(
      [
        'Withdraw to an address, by wire or by ACH (POST /v1/user/withdraw)',
        '  currency  btc',
        '  amount    0.10000001 (zero point one zero zero zero zero zero zero one)',
        '  address   bc1qexample',
        'Nothing was done.\n',
      ].join('\n'),
    );
    expect(await parsed('transactions --types withdraw --pending true')).toEqual([]);
    expect(await account(line, { answer: () => ' YES\n' })).toMatchObject({ code: 0 });
    expect(await parsed('transactions --types withdraw --pending true')).toMatchObject([{ amount: '-0.10000001' }]); // prettier-ignore
  });

  it('show the options of a route with their meaning', async () => {
    const amount = [/--amount <value>/u, 'required when the currency is not usd'];
    expectRan(await account('withdraw --help'), 0, ...amount);
    expectRan(await account('pts-positions --help'), 0, 'choices: "active", "closed"');
    expectRan(await account('history --help'), 0, '--start-date <value>');
  });

  it.each([
    ['withdraw --currency btc --amount -1', '--amount: expected an amount above zero'],
    ['withdraw --currency btc --amount 1e3', '--amount: expected an amount above zero'],
    ['withdraw --currency btc', "required option '--amount <value>'"],
    ['quote --pair btcusd --side buy', 'exactly one of quantity or amount'],
    ['quote --pair btcusd --side up --quantity 1', 'Allowed choices are buy, sell'],
    ['quote --pair btcusd --side buy --quantity 1 --client-quote-id tr-a', 'reserved for desks'],
    ['buy --currency-pair btcusd --quote-id q --quantity 1 --client-order-id tr-a', 'reserved for desks'],
    ['buy --currency-pair btcusd', '--quote-id: '],
    ['order --id a/b', '--id: expected letters, digits, - and _'],
    ['transactions --from yesterday', '--from: expected a time such as 2026-12-01T09:00:00Z, or Unix ms'],
    ['transactions --limit some', '--limit: expected a whole number'],
    ['transactions --colour red', "unknown option '--colour'"],
    ['trial', "unknown command 'trial'"],
  ])('exit with 64 for invalid arguments: %s', async (line, why) => {
    expectRefused(await account(line), 64, why);
  });

  it('exit with 78 without a token, which is never that of the desk', async () => {
    const ran = await account('balances', { env: { TRANCHE_TOKEN: venue.tokens[0] ?? '' } });
    expectRefused(ran, 78, 'No operator token: set TRANCHE_OPERATOR_TOKEN');
  });

  it('exit with 69 for a wrong token, which they do not show, and if the venue does not respond', async () => {
    const wrong = await account('balances', { token: 'sim-wrong-token' });
    expectRefused(wrong, 69, /The venue rejected this token: [^.]*\. [^.]*\. Set /u);
    expect(wrong.err).not.toContain('sim-wrong-token');
    // Port 9 (discard): no process listens there.
    const none = await run(['balances', '--base-url', 'http://127.0.0.1:9'], { env });
    expectRefused(none, 69, 'did not respond (connect). Nothing was changed.');
  });

  it('send an order once, and say that its outcome is unknown if the response is lost', async () => {
    let orders = 0;
    await using broken = await aVenue({ limits: { enforced: false } }, {
      script: ({ route, method }) => {
        if (method !== 'POST' || !route.startsWith('/v1/orders/')) return undefined;
        orders += 1;
        return { destroy: 'after' };
      },
    }); // prettier-ignore
    const options = { env: { TRANCHE_OPERATOR_TOKEN: broken.tokens[0] ?? '' } };
    const at = ['--base-url', broken.baseUrl];
    const quote = await run([...'quote --pair btcusd --side buy --quantity 0.1 --json'.split(' '), ...at], options); // prettier-ignore
    const { quote_id: id } = JSON.parse(quote.out) as { quote_id: string };
    const line = `buy --currency-pair btcusd --quote-id ${id} --quantity 0.1 --client-order-id op-2 --yes`;
    const ran = await run([...line.split(' '), ...at], options);
    const unknown = 'It is unknown whether the venue carried out the request';
    expectRefused(ran, 69, unknown, 'Before you repeat the command, check');
    expect(orders).toBe(1);
    expect((await run(['order', '--id', 'op-2', ...at], options)).out).toMatch(/^filled +0\.1$/mu);
  });
});

describe('the venue address and the token of account commands', () => {
  it('come from a config and from a token file that only its owner can read', async () => {
    const config = `venue:\n  base_url: '${venue.baseUrl}'\n  token: '\${TRANCHE_TOKEN}'\n`;
    put(folder, { 'live.yaml': config, token: `${venue.tokens[0] ?? ''}\n` });
    put(folder, { open: 'x' }, 0o644);
    const args = ['balances', '--config', 'live.yaml', '--token-file'];
    expect(await run([...args, 'token'], { cwd: folder })).toMatchObject({ code: 0, err: '' });
    expectRefused(await run([...args, 'open'], { cwd: folder }), 78, 'chmod 600');
    expectRefused(await run(['balances'], { cwd: folder, env }), 78);
    expectRefused(await run(['balances', '--base-url', 'http://venue.example'], { env }), 78, 'https://');
  });
});

function printed(response: unknown, json = false): string {
  let text = '';
  printResponse(response, { json, out: { write: (part) => (text += part) } });
  return text;
}

describe('a printed response', () => {
  it('is a table of its list, with right-aligned numbers and no empty columns', () => {
    const rows = [{ the_name: 'a', size: '10', memo: null, timestamp: 1_700_000_000_000 }, { the_name: 'longer', size: '2.5', memo: '' }]; // prettier-ignore
    const at = isoOf(instant(1_700_000_000_000));
    expect(printed(rows)).toBe(`the_name  size  timestamp\na           10  ${at}\nlonger     2.5\n`);
    expect(printed([])).toBe('The list is empty.\n');
  });

  it('has the fields beside its list below, and those within an object with both names', () => {
    expect(printed({ data: [{ id: 1 }], page: { next: 7 } })).toBe('id\n 1\npage.next  7\n');
    expect(printed({ btc: { rate: '1' }, eth: { rate: '2' } })).toBe('name  rate\nbtc      1\neth      2\n');
  });

  it('has one line per field if it is no list, or a table would be wider than a terminal', () => {
    expect(printed({ fee: '0.1', memo: '', options: { fast: true } })).toBe(
      'fee           0.1\noptions.fast  true\n',
    );
    expect(printed({})).toBe('Done.\n');
    const wide = 'x'.repeat(200);
    expect(printed([{ id: 1, memo: wide }, { id: 2 }])).toBe(`id    1\nmemo  ${wide}\n\nid  2\n`);
  });

  it('is one line of JSON for programs', () => {
    expect(printed({ data: [{ amount: '1.50' }], page: null }, true)).toBe('{"data":[{"amount":"1.50"}],"page":null}\n'); // prettier-ignore
  });

  it('has one line per row whatever text the venue sends', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.string({ unit: 'binary' }),
        (text, name) => {
          const table = printed([{ size: '1', text }]);
          expect(table.split('\n')).toHaveLength(3);
          for (const shown of [table, printed({ [`a${name}`]: text, size: 1 })])
            expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_C}]/u);
          expect(JSON.parse(printed([{ text }], true))).toEqual([{ text }]);
        },
      ),
    );
  });
});

describe('an amount in words', () => {
  it.each([
    ['0', 'zero'],
    ['0.05', 'zero point zero five'],
    ['13', 'thirteen'],
    ['40', 'forty'],
    ['99', 'ninety-nine'],
    ['100', 'one hundred'],
    ['1001', 'one thousand one'],
    ['1250.05', 'one thousand two hundred fifty point zero five'],
    ['1000000', 'one million'],
    ['12345678', 'twelve million three hundred forty-five thousand six hundred seventy-eight'],
    ['1000000000000000', '1000000000000000'],
  ])('spells %s as %s', (digits, words) => {
    expect(inWords(digits)).toBe(words);
  });

  it('differs for different amounts', () => {
    const amount = fc.tuple(fc.bigInt(0n, 10n ** 15n - 1n), fc.nat(9_999)).map(([whole, part]) => `${whole}.${String(part).padStart(4, '0')}`); // prettier-ignore
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        expect(inWords(a) === inWords(b)).toBe(a === b);
      }),
    );
  });
});
