import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadModule } from '../../src/app/strategies/modules.ts';
import { readStrategies } from '../../src/app/strategies/strategies.ts';
import { sha256 } from '../../src/journal/proof/link.ts';
import { isAmount } from '../../src/core/money.ts';
import { NINE, aView } from '../strategy/views.ts';
import { aFolder, put as putFiles } from '../support/folder.ts';
import { aKernelText, aModuleText } from './support/texts.ts';

let folder = '';
let outside = '';
beforeEach(() => {
  folder = aFolder();
  outside = aFolder();
});

const KERNEL = aKernelText();
const put = (name: string, text: string): string => {
  putFiles(folder, { [name]: text });
  return name;
};
const read = (module = './own.ts', more = ''): ReturnType<typeof readStrategies> =>
  readStrategies([join(folder, put('own.yaml', aModuleText(module, more)))], undefined, {
    env: {},
    cwd: folder,
  });
const problems = (module?: string, more?: string): readonly string[] =>
  read(module, more).problems.map(({ path, message }) => `${path}: ${message}`);

describe('a strategy of kind module', () => {
  it('includes the text of its code file in its document and its hash', () => {
    put('own.ts', KERNEL);
    const [strategy] = read().strategies;
    expect(strategy?.bound.pairs).toEqual(['btcusd']);
    expect(strategy?.document['source']).toEqual({ file: './own.ts', sha256: sha256(KERNEL), text: KERNEL });
    const step = strategy?.bound.start(NINE, aView());
    expect(step?.waits).toEqual([{ on: 'at', at: NINE + 60_000 }]);
    put('own.ts', `${KERNEL}// another thought\n`);
    expect(read().strategies[0]?.hash).not.toBe(strategy?.hash);
    put('own.ts', KERNEL);
    expect(read().strategies[0]?.hash).toBe(strategy?.hash);
  });

  it('runs the current code of its file, not a previous version', () => {
    const note = (text: string): string =>
      KERNEL.replace('finished: true', `finished: true, note: '${text}'`);
    const noteOf = (): unknown => {
      const bound = read().strategies[0]?.bound;
      const view = aView();
      const { state } = bound?.start(NINE, view) ?? {};
      return bound?.step(state, { on: 'at', at: NINE, due: NINE }, { begunAt: NINE, view }).note;
    };
    put('own.ts', note('first'));
    expect(noteOf()).toBe('first');
    put('own.ts', note('second'));
    expect(noteOf()).toBe('second');
  });

  it('accepts plain JavaScript and files in subfolders', () => {
    put('kernels/own.js', KERNEL);
    expect(problems('kernels/own.js')).toEqual([]);
  });

  it('receives amounts of the same class as the engine', () => {
    const text = "import { quantity } from 'tranche/strategy'; export const one = quantity('1');";
    const { one } = loadModule({ file: 'x.ts', sha256: sha256(text), text }) as { one: unknown };
    expect(isAmount(one)).toBe(true);
  });

  it.each([
    ['../own.ts', /is outside the folder of this file: copy it there/u],
    ['/etc/own.ts', /expected a \.ts or \.js file/u],
    ['a/../../own.ts', /is outside the folder of this file/u],
    ['./own.json', /expected a \.ts or \.js file/u],
    ["'https://x.example/own.ts'", /expected a \.ts or \.js file/u],
    ['./absent.ts', /absent\.ts cannot be read: there is no such file/u],
  ])('rejects the module path %s', (module, why) => {
    expect(problems(module)).toEqual([expect.stringMatching(why)]);
  });

  it('rejects a link to a file outside its folder, also through a linked subfolder', () => {
    writeFileSync(join(outside, 'own.ts'), KERNEL);
    symlinkSync(join(outside, 'own.ts'), join(folder, 'own.ts'));
    expect(problems()).toEqual([expect.stringContaining('own.ts is a link to a file outside the folder')]);
    symlinkSync(outside, join(folder, 'kernels'));
    expect(problems('./kernels/own.ts')).toEqual([expect.stringContaining('is a link to a file outside')]);
    put('here.ts', KERNEL);
    symlinkSync(join(folder, 'here.ts'), join(folder, 'alias.ts'));
    expect(problems('./alias.ts')).toEqual([]);
  });

  it('rejects code that is larger than 64 KiB or not UTF-8', () => {
    put('own.ts', `${KERNEL}//${'x'.repeat(65_536)}`);
    expect(problems()).toEqual([
      expect.stringMatching(/it has 6\d{4} bytes or more; at most 65536 are read/u),
    ]);
    writeFileSync(join(folder, 'own.ts'), Buffer.from([0x2f, 0x2f, 0xff, 0xfe]));
    expect(problems()).toEqual([expect.stringContaining('is not text in UTF-8')]);
  });

  it('reports problems that the module finds in its params at their position', () => {
    put('own.ts', KERNEL);
    const [problem] = read('./own.ts', 'params:\n  each: 7\n').problems;
    expect(problem).toMatchObject({ path: 'params.each', line: 7 });
  });
});

describe('the code of a module', () => {
  it.each<[string, string, RegExp]>([
    ['has a syntax error', 'export const kernel = ;', /SyntaxError|Expression expected|Unexpected/u],
    ['throws at the top level', "throw new Error('no');", /^module: no \(own\.ts:1\)$/u],
    ['uses top-level await', 'await 1;\nexport const kernel = 1;', /it uses top-level await/u],
    ['exports no kernel', 'export const other = 1;', /it exports no kernel/u],
    ['imports a Node module', "import fs from 'node:fs';", /it imports node:fs: a module may import tranche\/strategy only/u],
    ['imports a package', "import { of } from 'rxjs';", /it imports rxjs: a module may/u],
    ['imports another file', "import { a } from './a.ts';", /it imports \.\/a\.ts: a module may/u],
    ['uses a dynamic import', "export const f = () => import('node:fs');", /it uses import\(\), .*\(line 1\)/u],
    ['uses eval', "\neval('1');", /it uses eval, which is not available in a kernel: write the code out \(line 2\)/u],
    ['uses import.meta', 'export const u = import.meta.url;', /it uses import\.meta/u],
    ['uses .constructor', "(() => 1).constructor('return 1')();", /it uses \.constructor/u],
    ['changes a prototype', 'Array.prototype.x = 1;', /it uses a prototype/u],
    ['changes a global object', 'Math.max = 1;', /a kernel must not change objects of the program/u],
    ['uses an enum', 'enum A { B }', /enum/u],
    ...['process.env', 'globalThis.x = 1', 'console.log(1)', "fetch('http://x')", 'setTimeout(() => 1)', 'new Function("1")', 'crypto.randomUUID()'].map(
      (code): [string, string, RegExp] => [`uses ${code}`, `${code};`, /a kernel cannot use \w+: /u],
    ),
    ...['Date.now()', 'new Date()', 'Date()', 'Temporal.Now.instant()', 'performance.now()'].map(
      (code): [string, string, RegExp] => [`calls ${code}`, `${code};`, /the current time is view\.at/u],
    ),
    ['uses Math.random', 'Math.random();', /randomness is not repeatable/u],
  ])('is rejected if it %s', (_, code, why) => {
    put('own.ts', code);
    expect(problems()).toEqual([expect.stringMatching(why)]);
  }); // prettier-ignore

  it('may compute with fixed dates', () => {
    put('own.ts', `const day = new Date(0).getUTCDay() + Math.max(1, 2) + Date.parse('1970-01-02') + Temporal.Duration.from('PT1H').hours;\n${KERNEL}`);
    expect(problems()).toEqual([]);
  }); // prettier-ignore

  it('is rejected again with the same reason', () => {
    put('own.ts', "throw new Error('no');");
    expect(problems()).toEqual(problems());
  });
});
