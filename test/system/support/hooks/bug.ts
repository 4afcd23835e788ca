/** Loaded before the program: an error that nobody expects, a while after the desk has told the commands of this machine where it is. */
import { existsSync } from 'node:fs';

const AFTER_MS = 1_000;
const LOOK_MS = 100;

const looking = setInterval(() => {
  if (!existsSync('journal.db.control')) return;
  clearInterval(looking);
  setTimeout(() => {
    throw new TypeError('nobody expected this');
  }, AFTER_MS).unref();
}, LOOK_MS).unref();
