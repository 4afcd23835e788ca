import { channel } from 'node:diagnostics_channel';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach } from 'vitest';
import { leaksOf } from './leaks.ts';

/*
 * Loaded before every file of tests: whatever a test is about, no token that crossed a wire of this process may stand in what
 * the process says, in the text of an error, in a file of a temporary folder, or in what a program said that the test began.
 * Tokens are not announced: they are taken from the requests themselves, so that a test cannot forget to be watched.
 * `CANARY_LOG` names a file that gets a line of figures for every file of tests.
 */

/** Shorter ones stand in any text by chance. */
const TOKEN_MIN = 8;
/** Files in which a test leaves a token for a program to find. */
const HOLDERS = /(?:^|[/\\])(?:token[^/\\]*|credentials|venue\.json|.*\.control|state\.jsonl?)(?:[/\\]|$)/u;
const KEPT_MAX = 32 * 1024 * 1024;

interface Watch {
  readonly tokens: Set<string>;
  /** Where something was said, and what; looked through and emptied after each test. */
  said: { readonly where: string; readonly text: string }[];
  bytes: number;
  places: number;
  searched: number;
  leaks: number;
}

const KEY = Symbol.for('tranche.custody.watch');
const holder = globalThis as { [KEY]?: Watch };

/** Has what was said looked through after the test, as a program's output is. */
export function overheard(where: string, text: string): void {
  const watch = holder[KEY];
  if (watch === undefined || text === '' || watch.bytes > KEPT_MAX) return;
  watch.bytes += text.length;
  watch.said.push({ where, text });
}

/** A token that no request of this process has carried. */
export function guarded(token: string): void {
  if (token.length >= TOKEN_MIN) holder[KEY]?.tokens.add(token);
}

/** What stands where it must not, since the last look. */
export function leaked(): readonly string[] {
  const watch = holder[KEY];
  if (watch === undefined) return [];
  const { said, tokens } = watch;
  watch.said = [];
  watch.bytes = 0;
  watch.places += said.length;
  const found = said.flatMap(({ where, text }) => {
    watch.searched += text.length;
    return [...tokens].flatMap((token) =>
      piecesOf(text)
        .flatMap((piece) => leaksOf(piece, token))
        .slice(0, 1)
        .map((how) => `${where}: ${how}`),
    );
  });
  return [...new Set(found)];
}

const PIECE = 32_768;
const OVERLAP = 1_024;

/** A run of digits of a megabyte is more than a regular expression can search at once. */
const piecesOf = (text: string): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / PIECE) }, (_, i) =>
    text.slice(Math.max(0, i * PIECE - OVERLAP), (i + 1) * PIECE),
  );

function begin(): Watch {
  const watch: Watch = { tokens: new Set(), said: [], bytes: 0, places: 0, searched: 0, leaks: 0 };
  watchRequests();
  watchStreams();
  watchErrors();
  watchFolders();
  return watch;
}

/** Every request that this process sends or gets tells its token. */
function watchRequests(): void {
  const take = (value: unknown): void => {
    const [, token] = /^Bearer (.+)$/u.exec(String(value)) ?? [];
    if (token !== undefined) guarded(token);
  };
  channel('http.server.request.start').subscribe((message) => {
    const { request } = message as { readonly request: { readonly headers: Record<string, unknown> } };
    take(request.headers['authorization']);
  });
  channel('undici:request:create').subscribe((message) => {
    const { headers } = (message as { readonly request: { readonly headers: unknown } }).request;
    for (const line of Array.isArray(headers) ? headers : String(headers).split('\r\n'))
      take(String(line).replace(/^authorization: /iu, ''));
  });
}

function watchStreams(): void {
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = ((...args: Parameters<typeof write>) => {
      overheard(name, typeof args[0] === 'string' ? args[0] : Buffer.from(args[0]).toString('latin1'));
      return write(...args);
    }) as typeof stream.write;
  }
}

/** The text of every error of our own classes and of plain ones. */
function watchErrors(): void {
  globalThis.Error = new Proxy(Error, {
    construct(target, args: readonly unknown[], made: NewableFunction): object {
      const [message] = args;
      if (typeof message === 'string') overheard('the text of an error', message);
      const error = Reflect.construct(target, args, made) as object;
      Error.captureStackTrace(error, made); // the trace begins where it is thrown, not here
      return error;
    },
  });
}

/** A temporary folder is looked through before it goes. */
function watchFolders(): void {
  const { rmSync } = fs;
  fs.rmSync = (path, options) => {
    if (options?.recursive === true) readFolder(String(path));
    // A process that is just ending may still write there.
    rmSync(path, { maxRetries: 10, retryDelay: 50, ...options });
  };
  syncBuiltinESMExports();
}

function readFolder(folder: string): void {
  let entries: fs.Dirent[] = [];
  try {
    entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    return; // it is gone, or is a file
  }
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || HOLDERS.test(file.slice(folder.length))) continue;
    try {
      overheard(file, fs.readFileSync(file, 'latin1'));
    } catch {
      // Not readable by us: no other program of ours reads it either.
    }
  }
}

holder[KEY] ??= begin();

afterEach(({ onTestFinished }) => {
  // After the hooks of the test itself, which end its programs and take its folders away.
  onTestFinished(() => {
    const found = leaked();
    if (holder[KEY] !== undefined) holder[KEY].leaks += found.length;
    if (found.length > 0) throw new Error(`a token stands where it must not: ${found.join('; ')}`);
  });
});

afterAll(() => {
  const [file, watch] = [process.env['CANARY_LOG'], holder[KEY]];
  if (file === undefined || watch === undefined) return;
  const { tokens, places, searched, leaks } = watch;
  fs.appendFileSync(file, `${JSON.stringify({ tokens: tokens.size, places, searched, leaks })}\n`);
  Object.assign(watch, { places: 0, searched: 0, leaks: 0 });
  tokens.clear();
});
