import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatProblems, maskSecrets, nearest } from '../../src/app/config/problems.ts';
import type { FileProblem } from '../../src/app/config/problems.ts';
import { readYaml } from '../../src/app/config/yaml.ts';
import type { YamlFile } from '../../src/app/config/yaml.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string, env = {}): YamlFile => readYaml(bytes(text), 'x.yaml', env);
const valueOf = (text: string, env = {}): unknown => read(text, env).documents[0]?.value;
const messages = (text: string, env = {}): readonly string[] =>
  read(text, env).problems.map(({ message }) => message);

describe('readYaml', () => {
  it('reads YAML 1.2, in which yes and dates are text', () => {
    expect(valueOf('a: yes\nb: 15\nc: 2026-01-01\nd: [1, true]\n')).toEqual({
      a: 'yes',
      b: 15,
      c: '2026-01-01',
      d: [1, true],
    });
  });

  it('reads several documents and reports the first line of each', () => {
    const { documents } = read('# first\na: 1\n---\n\nb: 2\n---\n');
    expect(documents.map(({ line, value }) => [line, value])).toEqual([
      [2, { a: 1 }],
      [5, { b: 2 }],
    ]);
  });

  it('accepts a byte order mark and Windows line ends', () => {
    const { documents } = read('\uFEFFa: 1\r\nb:\r\n  c: x\r\n');
    expect(documents[0]?.value).toEqual({ a: 1, b: { c: 'x' } });
    expect(documents[0]?.problem(['b', 'c'], 'here')).toMatchObject({
      line: 3,
      column: 6,
      excerpt: '  c: x',
    });
  });

  it('reports a problem at the nearest existing node', () => {
    const [document] = read('a:\n  b:\n    - x\n    - y\n').documents;
    expect(document?.problem(['a', 'b', 1], '')).toMatchObject({ line: 4, column: 7, path: 'a.b[1]' });
    expect(document?.problem(['a', 'c', 'd'], '')).toMatchObject({ line: 1, column: 1, path: 'a.c.d' });
    expect(document?.problem(['a', 'b'], '', 'key')).toMatchObject({ line: 2, column: 3 });
  });

  it.each(['0o17', '0x1F', '017', '.inf', '-.inf', '.nan', '.NaN', '.5', '5.'])(
    'rejects %s, which YAML readers interpret in different ways',
    (number) => {
      expect(messages(`a: ${number}\n`)).toEqual([expect.stringContaining('more than one way')]);
    },
  );

  it('rejects every alias', () => {
    expect(messages('a: &x [1]\nb: *x\n')).toEqual([
      'aliases such as *x are not supported: repeat the value',
    ]);
  });

  it.each([
    ['a merge key', '<<: { a: 1 }\n', /merge keys/u],
    ['a tag', 'a: !env HOME\n', /tags such as !name/u],
    ['a duplicate key', 'a: 1\nb: 2\na: 3\n', /written twice, first on line 1/u],
    ['the key __proto__', '__proto__: { x: 1 }\n', /cannot be the name/u],
    ['a list as a key', '? [a]\n: 1\n', /plain name/u],
    ['an empty value', 'a:\nb: 1\n', /the value is missing/u],
    ['an open quote', 'a: "x\n', /quote/u],
    ['two colons', 'a: b: c\n', /second colon/u],
    ['a variable without a name', 'a: "${}"\n', /is not a variable/u],
  ])('rejects %s', (_what, text, message) => {
    expect(messages(text)).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    ['id: a\n kind: twap\n', 2, 2],
    ['a:\n  b: c\n    d: e\n', 3, 5],
    ['- a: 1\r\n   b: 2\r\n', 2, 4],
  ])('shows the line with the wrong indentation, not the value before it: %j', (text, line, column) => {
    expect(read(text).problems).toMatchObject([
      { line, column, message: expect.stringContaining('indentation') as string },
    ]);
  });

  it('does not modify prototypes', () => {
    read('__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\n');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('rejects more than 256 KiB and bytes that are not UTF-8', () => {
    expect(messages(`a: ${'x'.repeat(256 * 1024)}`)[0]).toMatch(/at most 262144 are read/u);
    expect(readYaml(Uint8Array.of(0x61, 0x3a, 0x20, 0xff), 'x', {}).problems[0]?.message).toMatch(/UTF-8/u);
  });

  it('rejects deep nesting without a crash', () => {
    expect(messages('[[[['.repeat(20_000)).length).toBeGreaterThan(0);
    expect(messages(`a: ${'['.repeat(40)}1${']'.repeat(40)}`)[0]).toMatch(/nested more than/u);
  });

  it('omits the excerpt of an extremely long line', () => {
    const text = `${'tok'.repeat(30_000)}: *x\n`;
    expect(read(text).problems[0]).toMatchObject({ line: 1, excerpt: '' });
  });

  it('continues with the next document after an invalid one', () => {
    const { documents, problems } = read('a: *x\n---\nb: 1\n');
    expect(problems).toHaveLength(1);
    expect(documents.map(({ value }) => value)).toEqual([{ b: 1 }]);
  });

  it('substitutes variables once, without recursion', () => {
    const env = { HOST: 'venue', INNER: '${HOST}' };
    expect(valueOf('a: "https://${HOST}/x"\nb: ${INNER}\nc: $HOST\n', env)).toEqual({
      a: 'https://venue/x',
      b: '${HOST}',
      c: '$HOST',
    });
  });

  it('reports every unset variable at its position', () => {
    const { problems } = read('a: ${NOPE}\nb: [ok, "${toString}"]\n');
    expect(problems.map(({ line, column, path }) => [line, column, path])).toEqual([
      [1, 4, 'a'],
      [2, 9, 'b[1]'],
    ]);
  });

  it('distinguishes a value that is a variable from one that only contains a variable', () => {
    const [document] = read('a: ${X}\nb: x${X}\nc: x\n', { X: '1' }).documents;
    expect(['a', 'b', 'c'].map((key) => document?.isFromVariable([key]))).toEqual([true, false, false]);
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 200 }),
          fc.string({ unit: fc.constantFrom(...Array.from('ab:-[]{}\n\t "\'#&*!|>%@`$,?')), maxLength: 60 }),
        ),
        (text) => {
          const { documents, problems } = read(text);
          for (const { line, column } of problems) expect(Math.min(line, column)).toBeGreaterThanOrEqual(1);
          expect(documents.length).toBeGreaterThanOrEqual(0);
        },
      ),
      { numRuns: 500 },
    );
  });
});

const at = (line: number): FileProblem => ({
  file: 'f',
  line,
  column: 1,
  path: '',
  message: `m${line}`,
  excerpt: '',
});

describe('formatProblems', () => {
  it('puts the caret under the position, also in long lines', () => {
    const [document] = read(
      `a: { ${'x: 1, '.repeat(1)}${'long_key_number_one: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", '.repeat(1)}b: 1 }\n`,
    ).documents;
    const [, line, caret] = formatProblems(document ? [document.problem(['a', 'b'], 'm')] : [], {
      colour: false,
    }).split('\n');
    expect(line?.[caret?.indexOf('^') ?? 0]).toBe('1');
    const far = {
      file: 'f',
      line: 1,
      column: 301,
      path: '',
      message: 'm',
      excerpt: `${'x'.repeat(300)}Y${'z'.repeat(50)}`,
    };
    const [, farLine, farCaret] = formatProblems([far], { colour: false }).split('\n');
    expect(farLine?.[farCaret?.indexOf('^') ?? 0]).toBe('Y');
  });

  it('replaces control characters from a file', () => {
    const evil = { file: 'f', line: 1, column: 1, path: '', message: 'm', excerpt: 'a: "\u001B[2J\u202E"' };
    const printed = formatProblems([evil], { colour: false });
    expect(printed).toContain('?[2J?');
    expect(['\u001B', '\u202E'].filter((control) => printed.includes(control))).toEqual([]);
  });

  it('sorts problems by position, removes duplicates and counts them', () => {
    expect(formatProblems([at(9), at(2), at(9)], { colour: false })).toBe(
      'f:2:1\n  m2\n\nf:9:1\n  m9\n\n2 problems\n',
    );
  });

  it('shows the first fifty problems and states the total', () => {
    const printed = formatProblems(
      Array.from({ length: 60 }, (_, i) => at(i + 1)),
      { colour: false },
    );
    expect(printed).toContain('m50\n');
    expect(printed).not.toContain('m51\n');
    expect(printed).toContain('60 problems, the first 50 are shown');
  });

  it('uses colours only if requested', () => {
    const problem = { file: 'f', line: 1, column: 1, path: 'a', message: 'm', excerpt: 'a' };
    expect(formatProblems([problem], { colour: true })).toContain('\u001B[');
    expect(formatProblems([problem], { colour: false })).not.toContain('\u001B[');
  });
});

describe('maskSecrets', () => {
  it.each([
    ['  token: abc123', '  token: [redacted]'],
    ['{ token: "a b", x: 1 }', '{ token: [redacted], x: 1 }'],
    ["api_secret: 'x'", 'api_secret: [redacted]'],
    ['journal: postgres://me:pass@host/db', 'journal: postgres://[redacted]@host/db'],
    ['token: "${TRANCHE_TOKEN}"', 'token: "${TRANCHE_TOKEN}"'],
    ['token_file: /run/secrets/venue', 'token_file: /run/secrets/venue'],
    ['slices: 48', 'slices: 48'],
  ])('turns %s into %s', (line, masked) => {
    expect(maskSecrets(line)).toBe(masked);
  });
});

describe('nearest', () => {
  it('finds the known name for a typing error, and none for an unrelated word', () => {
    const known = ['slices', 'interval', 'duration', 'side'];
    expect(nearest('slcies', known)).toBe('slices');
    expect(nearest('Side', known)).toBe('side');
    expect(nearest('intervall', known)).toBe('interval');
    expect(nearest('colour', known)).toBeUndefined();
  });
});
