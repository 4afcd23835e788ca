import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bans, holdsFor } from './house/bans.ts';
import { importProblem, resolve, roomOf, rooms } from './house/rooms.ts';
import { importsOf, tokenize } from './house/tokens.ts';
import type { Import, Token } from './house/tokens.ts';

const root = new URL('../', import.meta.url);
/**
 * A file holds one idea. Beyond 400 lines look for the second idea; a file is never split to satisfy a number. This bound
 * only catches what nobody looked at. Tests are lists: they may be longer than what they test.
 */
const linesMax = (file: string): number => (file.startsWith('test/') ? 900 : 600);

/** All files below `folder`, from the root of the repository; none when there is no such folder. */
function filesIn(folder: string, ending: RegExp): readonly string[] {
  try {
    return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}${path.replaceAll('\\', '/')}`)
      .filter((path) => ending.test(path) && !path.includes('node_modules/'))
      .toSorted();
  } catch {
    return [];
  }
}

interface Source {
  readonly file: string;
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly imports: readonly Import[];
}

const sources: readonly Source[] = ['src/', 'test/', 'bench/'].flatMap((folder) =>
  filesIn(folder, /\.tsx?$/u).map((file) => {
    const text = readFileSync(new URL(file, root), 'utf8');
    const tokens = tokenize(text);
    return { file, text, tokens, imports: importsOf(tokens) };
  }),
);
const house = sources.filter(({ file }) => file.startsWith('src/'));

/** A cycle in a graph, as its nodes; `undefined` if there is none. */
function cycleIn(edges: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const walk = (at: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(at)) return [...path.slice(path.indexOf(at)), at];
    if (done.has(at)) return undefined;
    for (const next of edges.get(at) ?? []) {
      const found = walk(next, [...path, at]);
      if (found !== undefined) return found;
    }
    done.add(at);
    return undefined;
  };
  for (const start of edges.keys()) {
    const found = walk(start, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe('the source code', () => {
  it('is found by this test', () => {
    expect(house.length).toBeGreaterThan(20);
    expect(house.flatMap(({ imports }) => imports).length).toBeGreaterThan(house.length);
  });

  it('imports only from the parts that the table permits', () => {
    const problems = house.flatMap(({ file, imports }) =>
      imports.flatMap((each) => {
        const problem = importProblem(file, each);
        return problem === undefined ? [] : [`${file}:${each.line} ${problem}`];
      }),
    );

    expect(problems).toStrictEqual([]);
  });

  it('imports decimal.js only in core/money.ts', () => {
    const importers = house
      .filter(({ imports }) => imports.some(({ from }) => from === 'decimal.js'))
      .map(({ file }) => file);

    expect(importers).toStrictEqual(['src/core/money.ts']);
  });

  it('has a table of permitted imports without a cycle', () => {
    const parts = Object.entries(rooms).map(
      ([name, room]) =>
        [name, room.parts.map((part) => roomOf(`src/${part}${part.endsWith('.ts') ? '' : '/x'}`))] as const,
    );

    expect(cycleIn(new Map(parts))).toBeUndefined();
  });

  it('has no import cycle, including imports of types', () => {
    const edges = house.map(({ file, imports }) => {
      const needed = imports.filter(({ from }) => from?.startsWith('.') === true);
      return [file, needed.map(({ from }) => resolve(file, from ?? ''))] as const;
    });

    expect(cycleIn(new Map(edges))).toBeUndefined();
  });

  it.each(bans)('does not use $name', (ban) => {
    const broken = sources
      .filter(({ file }) => holdsFor(ban, file))
      .flatMap(({ file, tokens }) =>
        ban.find(tokens).map((line) => `${file}:${line} ${ban.name}: ${ban.instead}`),
      );

    expect(broken).toStrictEqual([]);
  });

  it('has no file above the line limit', () => {
    const long = sources
      .map(({ file, text }) => ({ file, lines: text.split('\n').length - 1 }))
      .filter(({ file, lines }) => lines > linesMax(file))
      .map(({ file, lines }) => `${file}: ${lines} lines; look for the second idea in it`);

    expect(long).toStrictEqual([]);
  });

  it('contains no path of the machine on which it was developed', () => {
    const places = ['work', 'root', 'tmp/bash_jobs'].map((name) => `/${name}/`);
    const others = ['docs/', 'config/', 'strategies/', 'bin/', 'scripts/', '.ci/'].flatMap((folder) =>
      filesIn(folder, /\.(?:md|ya?ml|json|js)$|\/run$/u),
    );
    const top = readdirSync(root).filter((name) => /\.(?:md|json|ts)$|^Dockerfile$/u.test(name));
    const named = [...sources.map(({ file }) => file), ...others, ...top].flatMap((file) => {
      const text = readFileSync(new URL(file, root), 'utf8');
      return places
        .filter((place) => new RegExp(`(?<![\\w.])${place}`, 'u').test(text))
        .map((place) => `${file}: ${place}`);
    });

    expect(named).toStrictEqual([]);
  });
});

describe('the check of the house rules', () => {
  it.each(bans.flatMap((ban) => ban.bad.map((code) => ({ ban, name: ban.name, code }))))(
    'finds $name in $code',
    ({ ban, code }) => {
      expect(ban.find(tokenize(`const ok = 1;\n${code}\n`))).toContain(2);
    },
  );

  it.each(bans.flatMap((ban) => ban.good.map((code) => ({ ban, name: ban.name, code }))))(
    'does not mistake $code for $name',
    ({ ban, code }) => {
      expect(ban.find(tokenize(`const ok = 1;\n${code}\n`))).toStrictEqual([]);
    },
  );

  it.each([
    ['src/core/money.ts', "import { of } from 'rxjs';"],
    ['src/core/cycle/cycle.ts', "import { Decimal } from 'decimal.js';"],
    ['src/core/cycle/cycle.ts', "import type { Ports } from '../../engine/ports.ts';"],
    ['src/engine/stages/pace.ts', "import { readFileSync } from 'node:fs';"],
    ['src/engine/stages/pace.ts', "import { twap } from '../../strategy/kinds/twap.ts';"],
    ['src/engine/stages/pace.ts', "export { http } from '../../venue/http.ts';"],
    ['src/venue/http.ts', "import { pace } from '../engine/stages/pace.ts';"],
    ['src/venue/http.ts', "import '../journal/sqlite/sqlite.ts';"],
    ['src/simulator/http/server.ts', "const a = await import('../../venue/http.ts');"],
    ['src/simulator/http/server.ts', 'const a = await import(name);'],
    ['src/strategy/kinds/twap.ts', "import { Cron } from 'croner';"],
    ['src/operate/server.ts', "import {\n  a,\n  type B,\n} from '../app/config/config.ts';"],
    ['src/journal/proof/chain.ts', "let a: import('../../simulator/ledger/ledger.ts').Ledger;"],
    ['src/core/ids.ts', "import { x } from '../../test/x.ts';"],
    ['src/cellar/wine.ts', "import { x } from './x.ts';"],
  ])('rejects the import in %s: %s', (file, code) => {
    const problems = importsOf(tokenize(code)).map((each) => importProblem(file, each));

    expect(problems).toHaveLength(1);
    expect(problems[0]).toBeTypeOf('string');
  });

  it.each([
    ['src/core/ids.ts', "import { hash } from 'node:crypto';"],
    ['src/engine/stages/decide.ts', "import type { BoundStrategy } from '../strategy/kernel.ts';"],
    ['src/venue/trading.ts', "import type { VenuePort } from '../engine/ports.ts';"],
    ['src/app/commands/run.ts', "import { readFileSync } from 'node:fs';"],
    ['src/main.ts', "import { main } from './app/main.ts';"],
    ['src/strategy/calendar/schedule.ts', "import { Cron } from 'croner';"],
  ])('allows the import in %s: %s', (file, code) => {
    expect(importsOf(tokenize(code)).map((each) => importProblem(file, each))).toStrictEqual([undefined]);
  });

  it('ignores imports in strings, regular expressions and comments', () => {
    const code = [
      "import { a } from './a.ts'; // import { b } from './b.ts';",
      "const t = `import { c } from './c.ts' ${f(`${'}'}`, { x: /[/'\"`]/u })} ${g} tail`;",
      "/* import './d.ts' */ const half = total / 2 / 3; const s = 'import \"./e.ts\"';",
      "export { z } from './z.ts'; export const q = 'from'; import.meta.url; export type { Y } from './y.ts';",
    ].join('\n');

    const imports = importsOf(tokenize(code));

    expect(imports.map(({ from, line, isType }) => ({ from, line, isType }))).toStrictEqual([
      { from: './a.ts', line: 1, isType: false },
      { from: './z.ts', line: 4, isType: false },
      { from: './y.ts', line: 4, isType: true },
    ]);
  });

  it('finds a cycle', () => {
    expect(cycleIn(new Map([['a', ['b']], ['b', ['c']], ['c', ['b']]]))).toStrictEqual(['b', 'c', 'b']); // prettier-ignore
    expect(cycleIn(new Map([['a', ['b', 'c']], ['b', ['c']]]))).toBeUndefined(); // prettier-ignore
  });
});
