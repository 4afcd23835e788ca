import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatProblems, maskSecrets, nearest } from '../../src/app/config/problems.ts';
import type { FileProblem } from '../../src/app/config/problems.ts';
import { readYaml } from '../../src/app/config/yaml.ts';
import type { YamlFile } from '../../src/app/config/yaml.ts';

const read = (text: string | Uint8Array, env = {}): YamlFile => readYaml(Buffer.from(text), 'x.yaml', env);
const valueOf = (text: string, env = {}): unknown => read(text, env).documents[0]?.value;
const messages = (text: string | Uint8Array): readonly string[] =>
  read(text).problems.map(({ message }) => message);

describe('readYaml', () => {
  it('reads YAML 1.2, in which yes and dates are text', () => {
    const value = { a: 'yes', b: 15, c: '2026-01-01', d: [1, true] };
    expect(valueOf('a: yes\nb: 15\nc: 2026-01-01\nd: [1, true]\n')).toEqual(value);
  });

  it('reads several documents, also after an invalid one, and reports the first line of each', () => {
    const { documents, problems } = read('# first\na: 1\n---\na: *x\n---\n\nb: 2\n---\n');
    expect(problems).toHaveLength(1);
    expect(documents.map(({ line, value }) => [line, value])).toEqual([
      [2, { a: 1 }],
      [7, { b: 2 }],
    ]);
  });

  it('accepts a byte order mark and Windows line ends', () => {
    const { documents } = read('\uFEFFa: 1\r\nb:\r\n  c: x\r\n');
    expect(documents[0]?.value).toEqual({ a: 1, b: { c: 'x' } });
    const place = { line: 3, column: 6, excerpt: '  c: x' };
    expect(documents[0]?.problem(['b', 'c'], 'here')).toMatchObject(place);
  });

  it('reports a problem at the nearest existing node', () => {
    const [document] = read('a:\n  b:\n    - x\n    - y\n').documents;
    expect(document?.problem(['a', 'b', 1], '')).toMatchObject({ line: 4, column: 7, path: 'a.b[1]' });
    expect(document?.problem(['a', 'c', 'd'], '')).toMatchObject({ line: 1, column: 1, path: 'a.c.d' });
    expect(document?.problem(['a', 'b'], '', 'key')).toMatchObject({ line: 2, column: 3 });
  });

  it.each<readonly [string, string | Uint8Array, RegExp]>([
    ...['0o17', '0x1F', '017', '.inf', '-.inf', '.nan', '.NaN', '.5', '5.'].map(
      (number) => [number, `a: ${number}\n`, /more than one way/u] as const,
    ),
    ['an alias', 'a: &x [1]\nb: *x\n', /^aliases such as \*x are not supported: repeat the value$/u],
    ['a merge key', '<<: { a: 1 }\n', /merge keys/u],
    ['a tag', 'a: !env HOME\n', /tags such as !name/u],
    ['a duplicate key', 'a: 1\nb: 2\na: 3\n', /written twice, first on line 1/u],
    ['the key __proto__', '__proto__: { x: 1 }\n', /cannot be the name/u],
    ['a list as a key', '? [a]\n: 1\n', /plain name/u],
    ['an empty value', 'a:\nb: 1\n', /the value is missing/u],
    ['an open quote', 'a: "x\n', /quote/u],
    ['two colons', 'a: b: c\n', /second colon/u],
    ['a variable without a name', 'a: "${}"\n', /is not a variable/u],
    ['more than 256 KiB', `a: ${'x'.repeat(256 * 1024)}`, /at most 262144 are read/u],
    ['bytes that are not UTF-8', Uint8Array.of(0x61, 0x3a, 0x20, 0xff), /UTF-8/u],
    ['deep nesting', `a: ${'['.repeat(40)}1${']'.repeat(40)}`, /nested more than/u],
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

  it('rejects very deep nesting without a crash', () => {
    expect(messages('[[[['.repeat(20_000)).length).toBeGreaterThan(0);
  });

  it('omits the excerpt of an extremely long line', () => {
    const text = `${'tok'.repeat(30_000)}: *x\n`;
    expect(read(text).problems[0]).toMatchObject({ line: 1, excerpt: '' });
  });

  it('substitutes variables once, without recursion', () => {
    const env = { HOST: 'venue', INNER: '${HOST}' };
    const value = { a: 'https://venue/x', b: '${HOST}', c: '$HOST' };
    expect(valueOf('a: "https://${HOST}/x"\nb: ${INNER}\nc: $HOST\n', env)).toEqual(value);
  });

  it('reports every unset variable at its position', () => {
    const { problems } = read('a: ${NOPE}\nb: [ok, "${toString}"]\n');
    expect(problems.map(({ line, column, path }) => `${line}:${column} ${path}`)).toEqual([
      '1:4 a',
      '2:9 b[1]',
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

const at = (line: number, over: Partial<FileProblem> = {}): FileProblem => ({
  file: 'f',
  line,
  column: 1,
  path: '',
  message: `m${line}`,
  excerpt: '',
  ...over,
});
const formatted = (...problems: readonly FileProblem[]): string =>
  formatProblems(problems, { colour: false });

describe('formatProblems', () => {
  it('puts the caret under the position, also in long lines', () => {
    const far = at(1, { column: 301, excerpt: `${'x'.repeat(300)}Y${'z'.repeat(50)}` });
    for (const problem of [at(1, { column: 6, excerpt: 'a: { Y: 1 }' }), far]) {
      const [, line, caret] = formatted(problem).split('\n');
      expect(line?.[caret?.indexOf('^') ?? 0]).toBe('Y');
    }
  });

  it('replaces control characters from a file', () => {
    const printed = formatted(at(1, { excerpt: 'a: "\u001B[2J\u202E"' }));
    expect(printed).toContain('?[2J?');
    for (const control of ['\u001B', '\u202E']) expect(printed).not.toContain(control);
  });

  it('sorts problems by position, removes duplicates, counts them and shows the first fifty', () => {
    expect(formatted(at(9), at(2), at(9))).toBe('f:2:1\n  m2\n\nf:9:1\n  m9\n\n2 problems\n');
    const many = formatted(...Array.from({ length: 60 }, (_, i) => at(i + 1)));
    expect(many).toContain('m50\n');
    expect(many).not.toContain('m51\n');
    expect(many).toContain('60 problems, the first 50 are shown');
  });

  it('uses colours only if requested', () => {
    for (const colour of [true, false])
      expect(formatProblems([at(1, { excerpt: 'a' })], { colour }).includes('\u001B[')).toBe(colour);
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
