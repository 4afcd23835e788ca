import { signal } from '@preact/signals';
import { linkTo, screens } from './router.ts';

export const asksHalt = signal(false);
export const asksKeys = signal(false);

/** Two keys form a shortcut when they follow each other within this time. */
const PAIR_MS = 1_000;

/** `g` and a letter opens a screen, `h h` opens the halt dialog, `?` lists the keys. Shortcuts are inactive while the user types. */
export function listenToKeys(mayHalt: () => boolean): void {
  let first: { readonly key: string; readonly at: number } | undefined;
  addEventListener('keydown', (event) => {
    const { key, target, timeStamp: at } = event;
    const isWriting =
      target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null;
    if (isWriting || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (key === '?') asksKeys.value = true;
    const before = first !== undefined && at - first.at < PAIR_MS ? first.key : undefined;
    first = { key, at };
    if (before === 'g') {
      const screen = screens.find((one) => one.key === key);
      if (screen !== undefined) location.hash = linkTo(screen.id);
    } else if (before === 'h' && key === 'h' && mayHalt()) {
      asksHalt.value = true;
      event.preventDefault();
    } else return;
    first = undefined;
  });
}
