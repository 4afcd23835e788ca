import { signal } from '@preact/signals';

/** How many requests wait for a decision of whoever looks. */
export const approvalsWaiting = signal(0);
