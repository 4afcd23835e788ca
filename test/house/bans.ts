import { importsOf } from './tokens.ts';
import type { Token } from './tokens.ts';

/** Something that code here does not do, and what it does instead. */
export interface Ban {
  readonly name: string;
  /** What to write instead. */
  readonly instead: string;
  /** Folders or files it holds for. */
  readonly within: readonly string[];
  /** Files, or folders that end in a slash, that may. */
  readonly homes: readonly string[];
  /** Lines at which it is broken. */
  readonly find: (tokens: readonly Token[]) => readonly number[];
  /** Code that breaks it, a case each. */
  readonly bad: readonly string[];
  /** Code that looks like it and is fine. */
  readonly good: readonly string[];
}

type Test = (tokens: readonly Token[], index: number) => boolean;

/** The program of the browser: its clock, its timers and its requests are those of the browser. */
const BROWSER = 'src/operate/dashboard/';
const everywhere = ['src/'];
/** Where everything runs in virtual time as well. */
const timeless = ['src/core/', 'src/engine/', 'src/strategy/', 'src/wire/', 'src/report/', 'src/planning/'];

const textAt = (tokens: readonly Token[], index: number): string | undefined => {
  const token = tokens[index];
  return token === undefined || token.type === 'text' ? undefined : token.text;
};
const where = (test: Test) => (tokens: readonly Token[]) =>
  tokens.flatMap((token, index) => (token.type !== 'text' && test(tokens, index) ? [token.line] : []));
/** A run of words and marks. `|` separates choices. */
const run =
  (...words: readonly string[]): Test =>
  (tokens, index) =>
    words.every((word, step) => word.split('|').includes(textAt(tokens, index + step) ?? ''));
/** A global of one of these names, used freely or through `globalThis`: not a method or a field of the same name. */
const free =
  (...names: readonly string[]): Test =>
  (tokens, index) => {
    if (!names.includes(textAt(tokens, index) ?? '') || textAt(tokens, index + 1) === ':') return false;
    const last = textAt(tokens, index - 1);
    return (last !== '.' && last !== '?.') || textAt(tokens, index - 2) === 'globalThis';
  };
const both =
  (a: Test, b: Test): Test =>
  (tokens, index) =>
    a(tokens, index) && b(tokens, index);
const either =
  (...tests: readonly Test[]): Test =>
  (tokens, index) =>
    tests.some((test) => test(tokens, index));
const not =
  (test: Test): Test =>
  (tokens, index) =>
    !test(tokens, index);
const before =
  (...words: readonly string[]): Test =>
  (tokens, index) =>
    words.includes(textAt(tokens, index - 1) ?? '');
const followedBy =
  (...words: readonly string[]): Test =>
  (tokens, index) =>
    words.includes(textAt(tokens, index + 1) ?? '');

/** The tokens between the bracket at `open` and the one that closes it. */
function inBrackets(tokens: readonly Token[], open: number): readonly Token[] {
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    const text = textAt(tokens, index) ?? '';
    if (['(', '[', '{'].includes(text)) depth += 1;
    if ([')', ']', '}'].includes(text)) depth -= 1;
    if (depth === 0) return tokens.slice(open + 1, index);
  }
  return [];
}

const TIMED = ['timer', 'interval', 'delay', 'debounceTime', 'throttleTime', 'auditTime', 'sampleTime', 'timeout', 'bufferTime', 'windowTime', 'timeInterval', 'timestamp']; // prettier-ignore
/** A call of an operator of rxjs that waits, without a scheduler among its arguments. */
const unscheduled = (tokens: readonly Token[]): readonly number[] => {
  const imported = new Set(
    importsOf(tokens)
      .filter(({ from }) => from === 'rxjs')
      .flatMap(({ names }) => names),
  );
  return where(
    both(free(...TIMED.filter((name) => imported.has(name))), (all, index) => {
      if (textAt(all, index + 1) !== '(') return false;
      return !inBrackets(all, index + 1).some(
        ({ type, text }) => type === 'word' && /scheduler$/iu.test(text),
      );
    }),
  )(tokens);
};

export const bans: readonly Ban[] = [
  {
    name: 'the time of the system',
    instead: 'take the time as a parameter, or from `ports.clock`: the same code runs in virtual time',
    within: everywhere,
    homes: ['src/app/', 'src/engine/time/virtual-clock.ts', BROWSER],
    find: where(
      either(
        run('Date', '.', 'now'),
        run('new', 'Date', '(', ')'),
        both(run('new', 'Date'), (tokens, index) => textAt(tokens, index + 2) !== '('),
        both(both(free('Date'), followedBy('(')), not(before('new'))),
        run('Temporal', '.', 'Now'),
        run('performance', '.', 'now|timeOrigin'),
        run('process', '.', 'hrtime|uptime'),
      ),
    ),
    bad: ['const a = Date.now();', 'const a = new Date();', 'x(new Date, 1)', 'const s = Date();', 'Temporal.Now.instant()', 'performance.now()', 'process.hrtime.bigint()', '`${Date.now()}`'],
    good: ['new Date(at).toISOString()', 'Date.parse(text)', '// Date.now()', '"Date.now()"', '`Date.now()`', '/Date.now()/u.test(x)', 'let a: Date;'],
  },
  {
    name: 'timers of the system',
    instead: 'use an operator of rxjs with `ports.clock.scheduler`',
    within: everywhere,
    homes: ['src/app/', 'src/engine/time/virtual-clock.ts', 'src/operate/turns.ts', 'src/simulator/http/server.ts', 'src/simulator/feeds/feeds.ts', 'src/venue/', BROWSER],
    find: where(free('setTimeout', 'setInterval', 'setImmediate')),
    bad: ['setTimeout(f, 1);', 'const wait = setInterval;', 'globalThis.setImmediate(f)'],
    good: ['socket.setTimeout(1)', '{ setTimeout: 1 }', '// setTimeout(f)'],
  },
  {
    name: 'an operator that waits without its scheduler',
    instead: 'give it the scheduler of the clock as an argument',
    within: [...timeless, 'src/simulator/port.ts', 'src/research/'],
    homes: [],
    find: unscheduled,
    bad: ["import { timer } from 'rxjs'; timer(5);", "import { of, delay } from 'rxjs'; of(1).pipe(delay(5));"],
    good: ["import { timer } from 'rxjs'; timer(5, clock.scheduler);", "import { timeout } from 'rxjs'; timeout({ first: 5, scheduler });", 'delay(5)'],
  },
  {
    name: 'chance',
    instead: 'take randomness from `ports.random`, or a seeded generator: what happened must be repeatable',
    within: everywhere,
    homes: ['src/app/', `${BROWSER}data/stream.ts`],
    find: where(either(run('Math', '.', 'random'), free('randomUUID', 'randomBytes', 'randomInt', 'getRandomValues', 'randomUUIDv7'), run('crypto', '.', 'randomUUID|getRandomValues|randomBytes|randomInt'))),
    bad: ['Math.random()', 'randomUUID()', 'crypto.getRandomValues(a)'],
    good: ['random.next()', 'Math.round(1)'],
  },
  {
    name: 'the environment',
    instead: 'take settings as parameters: `src/app` reads the environment once',
    within: everywhere,
    homes: ['src/main.ts', 'src/app/main.ts'],
    find: (tokens) => [
      ...where(run('process', '.', 'env|argv|cwd'))(tokens),
      ...importsOf(tokens).filter(({ from, names }) => /^(?:node:)?process$/u.test(from ?? '') && !names.includes('process')).map(({ line }) => line),
    ],
    bad: ['process.env.HOME', 'process.cwd()', "import { env } from 'node:process';"],
    good: ['config.env', "import process from 'node:process'; process.pid", '"process.env"'],
  },
  {
    name: 'the end of the process',
    instead: 'throw: `src/app` decides about the exit code once everything is closed',
    within: everywhere,
    homes: ['src/main.ts', 'src/app/main.ts', 'src/app/daemon/processes.ts'],
    find: where(either(run('process', '.', 'exit|abort|kill'), run('process', '.', 'exitCode', '='))),
    bad: ['process.exit(1)', 'process.exitCode = 1'],
    good: ['exit(1)', 'error.exitCode'],
  },
  {
    name: 'a way to the network besides the ports',
    instead: 'use `src/venue/http.ts`: its allow-list, size caps and timeouts protect the account; `src/app/daemon/post-outside.ts` for other servers',
    within: everywhere,
    homes: ['src/app/daemon/post-outside.ts', `${BROWSER}data/request.ts`, `${BROWSER}data/stream.ts`],
    find: where(either(both(free('fetch'), followedBy('(')), both(free('EventSource', 'XMLHttpRequest'), before('new')))),
    bad: ['await fetch(url)', 'globalThis.fetch(url)', 'new EventSource(url)'],
    good: ['cache.fetch(x)', 'const fetch = 1;'],
  },
  {
    name: 'code made from text',
    instead: 'write the function',
    within: everywhere,
    homes: [],
    find: where(either(both(free('eval'), followedBy('(')), run('new', 'Function'))),
    bad: ['eval(x)', 'new Function("a")'],
    good: ['kernel.eval(x)', 'type F = Function'],
  },
  {
    name: 'money as a float',
    instead: 'read amounts with `price`, `quantity`, `money` or `ratio`; `approximate` is for figures that never become money again',
    within: everywhere,
    homes: ['src/core/money.ts'],
    find: where(either(both(free('parseFloat'), not(before('function'))), run('Number', '.', 'parseFloat'), run('.', 'toNumber', '('))),
    bad: ['parseFloat(x)', 'Number.parseFloat(x)', 'price.toNumber()'],
    good: ['Number.parseInt(x, 36)', 'approximate(price)'],
  },
  {
    name: 'a promise in virtual time',
    instead: 'return an Observable: a promise ends in a later tick and breaks the order of virtual time',
    within: timeless,
    homes: [],
    find: where(either(free('await', 'Promise'), both(free('async'), followedBy('(', 'function')), free('firstValueFrom', 'lastValueFrom'))),
    bad: ['const f = async () => 1;', 'await x;', 'Promise.all(x)', 'firstValueFrom(x$)'],
    good: ['asyncScheduler', '// a promise: await'],
  },
  {
    name: 'a Subject',
    instead: 'compose Observables: the feedback loop is in `src/engine/pipeline.ts`, and two signals say that the desk or a price changed',
    within: ['src/core/', 'src/engine/', 'src/strategy/', 'src/journal/', 'src/report/', 'src/planning/'],
    homes: [
      'src/engine/pipeline.ts',
      'src/engine/desk.ts',
      'src/engine/market/reference-prices.ts',
      'src/engine/state/state-journal.ts',
    ],
    find: where(both(free('Subject', 'BehaviorSubject', 'ReplaySubject', 'AsyncSubject'), before('new'))),
    bad: ['new Subject<void>()', 'new BehaviorSubject(1)'],
    good: ['type A = Subject<number>'],
  },
  {
    name: 'a replay without a bound',
    instead: 'say how many values it keeps and when it lets go: `shareReplay({ bufferSize: 1, refCount: true })`',
    within: everywhere,
    homes: [],
    find: where(run('shareReplay', '(', ')')),
    bad: ['shareReplay()'],
    good: ['shareReplay({ bufferSize: 1, refCount: true })'],
  },
  {
    name: "rxjs' own virtual time",
    instead: 'use `VirtualClock`: the scheduler of rxjs sorts all pending work again at every call',
    within: everywhere,
    homes: [],
    find: where(free('VirtualTimeScheduler', 'TestScheduler')),
    bad: ['new VirtualTimeScheduler()'],
    good: ['new VirtualClock(at)'],
  },
  {
    name: 'export *',
    instead: 'import from the file that owns the name',
    within: ['src/', 'test/', 'bench/'],
    homes: [],
    find: where(run('export', '*')),
    bad: ["export * from './a.ts';", "export * as a from './a.ts';"],
    good: ["export { a } from './a.ts';"],
  },
  {
    name: 'mocks',
    instead: 'use the simulator, the memory journal or a real server on loopback: a double is a driver with its own file',
    within: ['test/'],
    homes: [],
    find: where(run('vi', '.', 'mock|fn|spyOn|stubGlobal|doMock|hoisted')),
    bad: ["vi.mock('./a.ts')", 'const f = vi.fn();', 'vi.spyOn(a, "b")'],
    good: ['memoryJournal()'],
  },
  {
    name: 'should',
    instead: 'finish the sentence that the describe begins, in the present tense: `it("drops the late quote")`',
    within: ['test/'],
    homes: [],
    find: (tokens) => tokens.flatMap(({ type, text, line }, index) => (type === 'text' && /^should\b/u.test(text) && ['(', ','].includes(tokens[index - 1]?.text ?? '') && tokens[index - 2]?.text === 'it' ? [line] : [])),
    bad: ["it('should work', f)"],
    good: ["it('says what a reader should do', f)"],
  },
]; // prettier-ignore

/** Whether `ban` holds for `file`. */
export const holdsFor = (ban: Ban, file: string): boolean =>
  ban.within.some((folder) => file.startsWith(folder)) &&
  !ban.homes.some((home) => (home.endsWith('/') ? file.startsWith(home) : file === home));
