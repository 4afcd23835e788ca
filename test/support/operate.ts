import { onTestFinished } from 'vitest';
import { instant } from '../../src/core/time.ts';
import type { Bearer, Role } from '../../src/operate/access.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import { startOperate } from '../../src/operate/server.ts';
import type { OperateOptions } from '../../src/operate/server.ts';

export const roles = ['viewer', 'operator', 'approver', 'admin'] as const satisfies readonly Role[];
export const tokenOf = (role: Role): string => `token-of-a-${role}`;
/** A token of each role; that of the admin is the token of the machine. */
export const bearers: readonly Bearer[] = roles.map((role) => ({
  name: role === 'admin' ? 'local' : `${role}@desk`,
  role,
  kind: role === 'admin' ? 'machine' : 'person',
  token: { reveal: () => tokenOf(role) },
}));

/** Starts the server of a desk on a free port of loopback until the test ends; it is ready and has no API unless `over` says otherwise. */
export async function operating(over: Partial<OperateOptions> = {}): ReturnType<typeof startOperate> {
  const metrics = createMetrics({ version: '1', mode: 'paper', desk: 'main', now: () => instant(0) });
  onTestFinished(() => {
    metrics.close();
  });
  const operate = await startOperate({
    listen: '127.0.0.1:0',
    version: '1',
    metrics,
    ready: () => [],
    ...over,
  });
  onTestFinished(async () => {
    await operate.close();
  });
  return operate;
}
