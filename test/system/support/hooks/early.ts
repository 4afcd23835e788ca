import { registerHooks } from 'node:module';
import process from 'node:process';

/**
 * Loaded before the program with `--import`: the process sends `signal` to itself, `times` times, when the first file of the
 * program behind its entry is loaded. Nothing of a command has run by then. Nothing of the program is changed.
 */
const query = new URL(import.meta.url).searchParams;
const signal = query.get('signal') ?? '';
let left = Number(query.get('times'));

registerHooks({
  load(url, context, nextLoad) {
    if (url.endsWith('/src/main.ts')) for (; left > 0; left--) process.kill(process.pid, signal);
    return nextLoad(url, context);
  },
});
