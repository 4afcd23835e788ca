import { setTimeout as sleep } from 'node:timers/promises';
import { defer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../src/core/time.ts';
import { aTwap } from '../../engine/harness.ts';
import { running } from '../../engine/strategy-files.ts';
import { served } from './served.ts';

describe('POST /api/v1/reload', () => {
  it.each([
    [[], 200, 'reloaded:'],
    [[{ strategy: 'new', says: 'too large' }], 409, 'nothing was changed:'],
  ] as const)('answers once the desk has rehearsed its new files: %j', async (faults, status, says) => {
    const { bench, files, until } = running([aTwap('old')]);
    until(MINUTE_MS);
    const infeasible = () =>
      defer(async () => {
        await sleep(50);
        return faults;
      });
    Object.assign(files.port, { infeasible });
    files.sources = [aTwap('old'), aTwap('new')];
    const { send } = await served(bench);
    const answer = await send('/api/v1/reload', { why: 'a new strategy' });
    expect(answer).toMatchObject({ status, body: { says: expect.stringContaining(says) as string } });
  });
});
