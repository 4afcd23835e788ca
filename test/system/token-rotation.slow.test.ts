import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aVenue } from '../simulator/client.ts';
import { valueOf } from '../simulator/world.ts';
import { aDesk, aFolder } from './support/desk.ts';
import { twapOf } from './support/drill.ts';
import { start } from './support/program.ts';
import { until } from './support/until.ts';

const OLD = 'canary-old-token-1';
const SLICES = 14;

describe.runIf(process.platform !== 'win32')(
  'a live desk whose token_file is replaced while it trades',
  () => {
    it(
      'uses the new token automatically and on SIGHUP, executes each slice once, and keeps its token if a file is bad',
      { timeout: 120_000 },
      async () => {
        /** Tokens that the venue no longer takes. */
        const ended = new Set<string>();
        const orders: string[] = [];
        let refused = 0;
        let onOrder: (() => void) | undefined;
        await using venue = await aVenue(
          {
            accounts: [{ token: OLD, balances: { usd: '1000000', btc: '25' } }],
            limits: { enforced: false },
          },
          {
            script({ route, token }) {
              if (ended.has(token)) {
                refused += 1;
                return { answer: { status: 401, body: '{"error":"invalid token"}' } };
              }
              if (route !== '/v1/orders/buy') return undefined;
              orders.push(token);
              onOrder?.();
              // Long enough that a token is replaced while an order is under way.
              return { replyDelayMs: 300 };
            },
          },
        );
        const { access, at } = venue.exchange;
        const [NEW, NEWER] = [1, 2].map(() => valueOf(access.issue(access.partner.name, 'desk', at)).token);
        if (NEW === undefined || NEWER === undefined) throw new Error('two tokens were issued');
        const place = aFolder();
        const file = join(place, 'token');
        const put = (text: string, mode = 0o600): void => {
          writeFileSync(join(place, 'token.next'), text, { mode });
          renameSync(join(place, 'token.next'), file);
        };
        put(OLD);
        const desk = aDesk({
          venue: { baseUrl: venue.baseUrl, token: OLD },
          strategies: [twapOf({ id: 'btc', slices: SLICES, everyMs: 1_000 })],
          config: { venue: { token_file: file } },
        });
        const daemon = start(['run', '--config', 'desk.yaml', '--json', '--until-done'], {
          cwd: desk.folder,
        });
        const log = (): string => readFileSync(join(desk.folder, 'journal.db.log'), 'utf8');
        const logged = async (what: string, count = 1): Promise<void> => {
          await until(
            () => log().split(what).length > count,
            () => `${what}: ${log()}`,
            30_000,
          );
        };
        await daemon.event('fill');

        // By itself. From then on the venue takes the new token alone.
        put(NEW);
        await logged('the venue token was replaced');
        await daemon.event('fill', { count: daemon.eventsOf('fill').length + 2 });
        ended.add(OLD);

        // Bad files, each by SIGHUP: the token stays.
        put(`{"origin": "https://elsewhere.example", "token": "${NEWER}"}`);
        daemon.signal('SIGHUP');
        await logged('"token_refused"');
        put(NEWER, 0o644);
        daemon.signal('SIGHUP');
        await logged('run \\"chmod 600');

        // A token that the venue does not know: only the trial of it is refused.
        put('canary-mistyped-token-4');
        daemon.signal('SIGHUP');
        await logged('the venue refuses the token');
        await daemon.event('fill', { count: daemon.eventsOf('fill').length + 1 });

        // While an order is under way, by SIGHUP.
        await new Promise<void>((resolve) => {
          onOrder = resolve;
        });
        onOrder = undefined;
        put(NEWER);
        daemon.signal('SIGHUP');
        await logged('the venue token was replaced', 2);
        await daemon.event('fill', { count: daemon.eventsOf('fill').length + 2 });
        ended.add(NEW);

        expect((await daemon.ended()).code).toBe(0);
        expect(refused).toBe(0);
        expect(new Set(orders)).toEqual(new Set([OLD, NEW, NEWER]));
        expect(orders).toHaveLength(SLICES);
        const fills = await desk.fills();
        expect(fills).toHaveLength(SLICES);
        expect(new Set(fills.map(({ order_id: id }) => id)).size).toBe(SLICES);
        for (const token of [OLD, NEW, NEWER])
          expect(log() + daemon.stdout + daemon.stderr).not.toContain(token);
      },
    );
  },
);
