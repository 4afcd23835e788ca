import { signal } from '@preact/signals';
import type { JSX } from 'preact';

const told = signal<{ readonly text: string; readonly id: number } | undefined>(undefined);
const SHOWN_MS = 8_000;

/** Shows the result of an action, including to screen readers. */
export function announce(text: string): void {
  const id = (told.peek()?.id ?? 0) + 1;
  told.value = { text, id };
  setTimeout(() => {
    if (told.peek()?.id === id) told.value = undefined;
  }, SHOWN_MS);
}

export const Toast = (): JSX.Element => (
  <div class="toast" role="status" aria-live="polite">
    {told.value !== undefined && <p key={told.value.id}>{told.value.text}</p>}
  </div>
);
