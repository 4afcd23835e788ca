import { describe, expect, it, onTestFinished } from 'vitest';
import { heartbeat } from '../../../src/app/notify/heartbeat.ts';
import { Secret } from '../../../src/app/config/secret.ts';
import { MINUTE_MS, after, instant } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { guarded } from '../../custody/watch.ts';
import { NINE } from '../../operate/notify/notices.ts';
import { until } from '../../system/support/until.ts';
import { receiver } from './receiver.ts';

describe('a heartbeat', () => {
  it('calls its address while the desk is well, stops while it is not, and reports a failure once', async () => {
    const server = await receiver();
    guarded('ping-of-the-desk');
    const clock = new VirtualClock(NINE);
    const desk = { isWell: true };
    const warned: string[] = [];
    const url = new Secret(`${server.url}/ping-of-the-desk`);
    const beats = heartbeat(url, {
      clock,
      isWell: () => desk.isWell,
      warn: (text, facts) => warned.push(`${text} ${JSON.stringify(facts)}`),
    }).subscribe();
    onTestFinished(() => {
      beats.unsubscribe();
    });
    const minute = (): void => {
      clock.run(after(instant(clock.now()), MINUTE_MS));
    };
    /** Advances the clock minute by minute until the server has received `count` calls. */
    const calls = async (count: number): Promise<void> => {
      const isSo = (): boolean => {
        if (server.posts.length < count) minute();
        return server.posts.length >= count;
      };
      await until(isSo, () => `${server.posts.length} calls instead of ${count}`);
    };
    await calls(1);
    desk.isWell = false;
    for (let n = 0; n < 10; n++) minute();
    const before = server.posts.length;
    for (let n = 0; n < 10; n++) minute();
    expect(server.posts).toHaveLength(before);
    desk.isWell = true;
    server.answer = { status: 500 };
    await calls(before + 1);
    await until(
      () => warned.length === 1,
      () => 'no warning',
    );
    await calls(before + 3);
    server.answer = { status: 200 };
    expect(warned).toEqual(['the heartbeat could not be sent {"why":"status 500"}']);
  });
});
