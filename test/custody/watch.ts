import { channel } from 'node:diagnostics_channel';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach } from 'vitest';
import { leaksOf } from './leaks.ts';

/*
 * Loaded before every test file. In every test, no token that a request of this process carried may appear in the output of the
 * process, in the text of an error, in a file of a temporary folder, or in the output of a program that the test started.
 * Tokens are taken from the requests themselves, so that a test cannot forget to register one.
 * `CANARY_LOG` names a file to which one line of figures is appended for every test file.
 */

/** Shorter tokens occur in a text by chance. */
const TOKEN_MIN = 8;
/** Files in which a test stores a token for a program. */
const HOLDERS = /(?:^|[/\\])(?:token[^/\\]*|credentials|venue\.json|.*\.control|state\.jsonl?)(?:[/\\]|$)/u;
const KEPT_MAX = 32 * 1024 * 1024;

interface Watch {
  readonly tokens: Set<string>;
  /** Texts to search, with their origin; emptied after each test. */
  said: { readonly where: string; readonly text: string }[];
  bytes: number;
  places: number;
  searched: number;
  leaks: number;
}

const KEY = Symbol.for('tranche.custody.watch');
const holder = globalThis as { [KEY]?: Watch };

/** Adds a text, such as the output of a program, to the search after the test. */
export function overheard(where: string, text: string): void {
  const watch = holder[KEY];
  if (watch === undefined || text === '' || watch.bytes > KEPT_MAX) return;
  watch.bytes += text.length;
  watch.said.push({ where, text });
}

/** Adds a token that no request of this process has carried. */
export function guarded(token: string): void {
  if (token.length >= TOKEN_MIN) holder[KEY]?.tokens.add(token);
}

/** Returns the leaks since the last call. */
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

/** A regular expression cannot search a megabyte of digits at once. */
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

/** Collects the token of every request that this process sends or receives. */
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

/** Adds the text of every error, of our own classes and of `Error`, to the search. */
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

/** Searches a temporary folder before it is removed. */
function watchFolders(): void {
  const { rmSync } = fs;
  fs.rmSync = (path, options) => {
    if (options?.recursive === true) readFolder(String(path));
    // A process that is about to end may still write there.
    rmSync(path, { maxRetries: 10, retryDelay: 50, ...options });
  };
  syncBuiltinESMExports();
}

function readFolder(folder: string): void {
  let entries: fs.Dirent[] = [];
  try {
    entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    return; // it does not exist, or is a file
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
  // Runs after the hooks of the test, which end its programs and remove its folders.
  onTestFinished(() => {
    const found = leaked();
    if (holder[KEY] !== undefined) holder[KEY].leaks += found.length;
    if (found.length > 0) throw new Error(`a token stands where it must not: ${found.join('; ')}`);
  });
});

afterAll(() => {
  const [file, watch] = [process.env['CANARY_LOG'], holder[KEY]];
  if (watch === undefined) return;
  const { tokens, places, searched, leaks } = watch;
  if (file !== undefined)
    fs.appendFileSync(file, `${JSON.stringify({ tokens: tokens.size, places, searched, leaks })}\n`);
  // The next test file may run in the same process, and has tokens of its own.
  Object.assign(watch, { said: [], bytes: 0, places: 0, searched: 0, leaks: 0 });
  tokens.clear();
});
