import { signal } from '@preact/signals';
import { get } from './request.ts';
import type { Approval, Page } from './shapes.ts';
import { onRecords } from './store.ts';

/** Number of requests that wait for a decision of the signed-in person. */
export const approvalsWaiting = signal(0);

const EVERY_MS = 15_000;
const KINDS = new Set(['approval', 'control', 'reload']);

/** Follows the number until the returned function is called. */
export function followApprovals(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const read = async (): Promise<void> => {
    clearTimeout(timer);
    try {
      const { items } = await get<Page<Approval>>('approvals', { state: 'open', limit: 500 });
      approvalsWaiting.value = items.filter(({ may_i: may }) => may === 'yes').length;
    } catch {
      // The approvals screen shows the error; the outdated number stays.
    }
    if (!isOver) timer = setTimeout(() => void read(), EVERY_MS);
  };
  void read();
  const off = onRecords((records) => {
    if (records.some(({ kind }) => KINDS.has(kind))) void read();
  });
  return () => {
    isOver = true;
    clearTimeout(timer);
    off();
  };
}
