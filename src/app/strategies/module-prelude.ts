/** Removes globals from the code of a user's module and defines the error for each. */

/** Names through which code reaches outside a pure function, each with the alternative. */
const barred: Readonly<Record<string, string>> = {
  process: 'settings come from params',
  global: 'a kernel must keep data only in its state',
  globalThis: 'a kernel must keep data only in its state',
  console: 'return a note instead',
  fetch: 'a kernel has no network: return waits instead',
  WebSocket: 'a kernel has no network: return waits instead',
  EventSource: 'a kernel has no network: return waits instead',
  setTimeout: 'return waits instead',
  setInterval: 'return waits instead',
  setImmediate: 'return waits instead',
  queueMicrotask: 'return waits instead',
  performance: 'the current time is view.at',
  crypto: 'randomness is not repeatable: derive it from the state',
  navigator: 'settings come from params',
  localStorage: 'a kernel must keep data only in its state',
  sessionStorage: 'a kernel must keep data only in its state',
  Function: 'write the function out',
  WebAssembly: 'write the function out',
};

/**
 * Constructs that no barred name can catch, each with the alternative. They also match in comments, because a false refusal is better than a miss.
 */
const refused: readonly (readonly [pattern: RegExp, what: string, instead: string])[] = [
  [/\beval\s*\(/u, 'eval', 'write the code out'],
  [/\bimport\s*\.\s*meta\b/u, 'import.meta', 'settings come from params'],
  [/\bimport\s*\(/u, 'import()', 'import tranche/strategy at the top'],
  [/\.\s*constructor\b/u, '.constructor', 'write the function out'],
  [
    /\bprototype\b|\b__proto__\b/u,
    'a prototype',
    'write a function: prototypes are shared by the whole program',
  ],
];

/** Returns why a module must not be loaded, or `undefined` if it may be. */
export function barredSource(text: string): string | undefined {
  for (const [line, words] of text.split('\n').entries()) {
    const found = refused.find(([pattern]) => pattern.test(words));
    if (found !== undefined)
      return `it uses ${found[1]}, which is not available in a kernel: ${found[2]} (line ${line + 1})`;
  }
  return undefined;
}

/**
 * Returns the text to put before that of a module, on the same line so that lines keep their numbers. Barred names become constants that
 * throw on use; `Date`, `Math` and `Temporal` remain, without the clock and without randomness.
 */
export function preludeFrom(specifier: string): string {
  const names = Object.entries(barred).map(
    ([name, instead]) => `${name} = __barred(${JSON.stringify(`a kernel cannot use ${name}: ${instead}`)})`,
  );
  const pure = '__barred, pureDate as Date, pureMath as Math, pureTemporal as Temporal';
  return `import { barredName as ${pure} } from '${specifier}'; const ${names.join(', ')}; `;
}

/** Returns an object that throws on every use. */
export function barredName(words: string): object {
  const refuse = (): never => {
    throw new TypeError(words);
  };
  // The target is a class, because a proxy can intercept `new` only for a constructor.
  return new Proxy(Error, { get: refuse, set: refuse, has: refuse, apply: refuse, construct: refuse });
}

const NOW = 'the current time is view.at: a kernel must be repeatable';
const CHANCE = 'randomness is not repeatable: derive it from the state';

/** Returns a read-only proxy of `what` without the name `missing`. The object is never modified, because the program uses it. */
function without<T extends object>(what: T, missing: string, handler: ProxyHandler<T> = {}): T {
  const words = missing === 'random' ? CHANCE : NOW;
  const change = (): never => barredCall('a kernel must not change objects of the program');
  return new Proxy(what, {
    ...handler,
    set: change,
    defineProperty: change,
    deleteProperty: change,
    get: (target, name): unknown => (name === missing ? barredCall(words) : Reflect.get(target, name)),
  });
}

/** `Date` without the current time. */
export const pureDate: DateConstructor = without(Date, 'now', {
  apply: () => barredCall(NOW),
  construct: (target, given: unknown[]): object =>
    given.length === 0 ? barredCall(NOW) : new target(...(given as [number])), // oxlint-disable-line typescript/no-unsafe-type-assertion -- passed on as it came
});

/** `Math` without randomness. */
export const pureMath: Math = without(Math, 'random');

/** `Temporal` without the current time. */
export const pureTemporal: typeof Temporal = without(Temporal, 'Now');

function barredCall(words: string): never {
  throw new TypeError(words);
}
