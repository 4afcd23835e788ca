import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { basename } from 'node:path';
import process from 'node:process';
import { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * Loaded before the program with `--import`: counts the boundaries of its effects, writes the name of each into the file
 * `log`, and ends the process with SIGKILL at boundary number `at` (0: never), or at the first of the name `at`. Boundaries are: before and after records are
 * committed, before and after the bytes of a request are handed to the kernel, an answer of the venue before the program
 * sees it, and before and after a file is synced, renamed or written as a whole. Nothing of the program is changed.
 */
const query = new URL(import.meta.url).searchParams;
const at = query.get('at');
const { openSync, writeSync } = fs;
const log = openSync(query.get('log') ?? '', 'a');
let count = 0;

function boundary(name: string): void {
  count += 1;
  writeSync(log, `${name}\n`);
  if (String(count) === at || name === at) process.kill(process.pid, 'SIGKILL');
}

/** Does `work` between two boundaries. */
function between<T>(name: string, work: () => T): T {
  boundary(`before ${name}`);
  const result = work();
  boundary(`after ${name}`);
  return result;
}

type Method = (this: object, ...args: readonly unknown[]) => unknown;
type Wrapped = (call: () => unknown, self: object, args: readonly unknown[]) => unknown;

/** Puts `wrapped` around a method; `call` goes on to the real one. */
function wrap(owner: object, name: string, wrapped: Wrapped): void {
  const real = Reflect.get(owner, name) as Method;
  Reflect.set(owner, name, function (this: object, ...args: readonly unknown[]): unknown {
    return wrapped(() => real.call(this, ...args), this, args);
  });
}

// The journal: records that were inserted since the last commit give the commit its name.
let kinds: string[] = [];
function commit(call: () => unknown): unknown {
  const name = kinds.length === 0 ? 'other' : [...new Set(kinds)].join('+');
  kinds = [];
  return between(`commit of ${name}`, call);
}
wrap(StatementSync.prototype, 'run', (call, self, args) => {
  const sql = (self as StatementSync).sourceSQL;
  if (sql.startsWith('INSERT INTO records')) kinds.push(String(args[2]));
  return sql === 'COMMIT' ? commit(call) : call();
});
wrap(DatabaseSync.prototype, 'exec', (call, _self, args) => (args[0] === 'COMMIT' ? commit(call) : call()));

// Requests and answers: the socket of a request remembers it, so that the answer can be named.
const asked = new WeakMap<object, string>();
const textOf = (data: unknown): string => {
  const first: unknown = Array.isArray(data) ? (data[0] as { readonly chunk: unknown }).chunk : data;
  return first instanceof Uint8Array
    ? Buffer.from(first).toString('latin1', 0, 128)
    : String(first).slice(0, 128);
};
wrap(net.Socket.prototype, '_writeGeneric', (call, self, [, data]) => {
  const request = /^(?:GET|POST|DELETE) [^ ?]+/u.exec(textOf(data))?.[0];
  // Called again once a new connection stands.
  if (request === undefined || (self as net.Socket).connecting) return call();
  asked.set(self, request);
  return between(request, call);
});
wrap(net.Socket.prototype, 'push', (call, self, [data]) => {
  const request = asked.get(self);
  if (request !== undefined && data instanceof Uint8Array) {
    asked.delete(self);
    boundary(`answer to ${request}`);
  }
  return call();
});

// Other files: latches, notes, reserves.
for (const [name, verb] of [
  ['fsyncSync', 'sync'],
  ['renameSync', 'rename'],
  ['writeFileSync', 'write'],
  ['unlinkSync', 'removal'],
  ['rmSync', 'removal'],
] as const)
  // prettier-ignore
  wrap(fs, name, (call, _self, [path]) =>
    between(`${verb} of ${typeof path === 'string' ? basename(path) : 'a file'}`, call),
  );
syncBuiltinESMExports();
