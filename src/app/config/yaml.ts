import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import type { Document, ParsedNode, YAMLError } from 'yaml';
import { maskSecrets, pathText } from './problems.ts';
import type { FileProblem } from './problems.ts';

/** One document of a YAML file as plain data, with the source location of each value. */
export interface YamlDocument {
  readonly file: string;
  /** First line of the document's content, counted from 1. */
  readonly line: number;
  /** Maps, lists, strings, numbers and booleans. Never `null`: an empty value is a problem. */
  readonly value: unknown;
  /** Returns a problem at `path`, or at its nearest existing ancestor. `at: 'key'` points at the name instead of the value. */
  problem(path: readonly PropertyKey[], message: string, at?: 'key' | 'value'): FileProblem;
  /** Returns the source text of the number at `path`: `1.50`, not `1.5`. */
  numberAt(path: readonly PropertyKey[]): string | undefined;
  /** Returns whether the text at `path` consists of a single `${NAME}`. */
  isFromVariable(path: readonly PropertyKey[]): boolean;
}

export interface YamlFile {
  /** Documents without problems. */
  readonly documents: readonly YamlDocument[];
  readonly problems: readonly FileProblem[];
}

/** Values of the variables for `${NAME}`, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Largest accepted file, in bytes. */
export const YAML_BYTES_MAX = 256 * 1024;
/** Longest line that a problem report shows, in characters. */
const LINE_MAX = 2_000;
const DEPTH_MAX = 32;
const DOCUMENTS_MAX = 1_000;
/** Plain decimal numbers. The reader rejects octal, hexadecimal and infinite numbers as ambiguous. */
const PLAIN_NUMBER = /^[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?$/u;
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Reads a subset of YAML 1.2 (core schema): at most 256 KiB, without aliases, merge keys, custom tags or duplicate
 * keys. Replaces `${NAME}` in a string with that variable of `env`; `file` is the name to display.
 */
export function readYaml(bytes: Uint8Array, file: string, env: Environment): YamlFile {
  const whole = (message: string): YamlFile => ({
    documents: [],
    problems: [{ file, line: 1, column: 1, path: '', message, excerpt: '' }],
  });
  if (bytes.length > YAML_BYTES_MAX) {
    return whole(`the file has ${bytes.length} bytes; at most ${YAML_BYTES_MAX} are read: split it`);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return whole('the file is not text in UTF-8: save it with that encoding');
  }
  const places = new Places(text, file);
  try {
    const parsed = parseAllDocuments(text, {
      lineCounter: places.lines,
      uniqueKeys: false,
      prettyErrors: false,
    });
    const documents = Array.isArray(parsed) ? parsed : [];
    if (documents.length > DOCUMENTS_MAX)
      return whole(`more than ${DOCUMENTS_MAX} documents: split the file`);
    const read = documents.map((document) => readDocument(document, places, env));
    return {
      documents: read.flatMap(({ document }) => (document === undefined ? [] : [document])),
      problems: read.flatMap(({ problems }) => problems),
    };
  } catch (cause) {
    // The parser is recursive, so thousands of nested brackets overflow its stack.
    if (cause instanceof RangeError) return whole('the file is nested too deeply');
    throw cause;
  }
}

/** Converts offsets in a text to lines and columns. */
class Places {
  readonly lines = new LineCounter();
  readonly file: string;
  readonly #text: readonly string[];

  constructor(text: string, file: string) {
    this.#text = text.split(/\r\n|\r|\n/u);
    this.file = file;
  }

  lineOf(offset: number): number {
    return Math.max(1, this.lines.linePos(offset).line);
  }

  /** Returns the offset of the first character after the indentation of the line that contains this offset. */
  firstOf(offset: number): number {
    const { line, col } = this.lines.linePos(offset);
    return offset - (col - 1) + Math.max(0, (this.#text[line - 1] ?? '').search(/\S/u));
  }

  problem(offset: number, path: readonly PropertyKey[], message: string): FileProblem {
    const { line, col } = this.lines.linePos(offset);
    const excerpt = this.#text[line - 1] ?? '';
    return {
      file: this.file,
      line: Math.max(1, line),
      // Counts characters, not UTF-16 units, so that the caret is under the right character.
      column: Array.from(excerpt.slice(0, Math.max(0, col - 1))).length + 1,
      path: pathText(path),
      message,
      excerpt: excerpt.length > LINE_MAX ? '' : maskSecrets(excerpt),
    };
  }
}

type Place = Readonly<{ key: number; value: number }>;

function readDocument(
  source: Document.Parsed,
  places: Places,
  env: Environment,
): { readonly document?: YamlDocument; readonly problems: readonly FileProblem[] } {
  const syntax = [...source.errors, ...source.warnings];
  if (syntax.length > 0) return { problems: syntaxProblems(syntax, places) };
  const { contents } = source;
  if (contents === null || (isScalar(contents) && contents.value === null)) return { problems: [] };

  const reader = new Reader(places, env);
  const value = reader.value(contents, []);
  if (reader.problems.length > 0) return { problems: reader.problems };
  const start = contents.range[0];
  const problem: YamlDocument['problem'] = (path, message, at = 'value') => {
    for (let length = path.length; length > 0; length--) {
      const place = reader.places.get(JSON.stringify(path.slice(0, length)));
      if (place !== undefined) {
        // The location of a missing setting is the name of its group.
        return places.problem(at === 'key' || length < path.length ? place.key : place.value, path, message);
      }
    }
    return places.problem(start, path, message);
  };
  const numberAt: YamlDocument['numberAt'] = (path) => reader.numbers.get(JSON.stringify(path));
  const isFromVariable: YamlDocument['isFromVariable'] = (path) => reader.variables.has(JSON.stringify(path));
  return {
    document: { file: places.file, line: places.lineOf(start), value, problem, numberAt, isFromVariable },
    problems: [],
  };
}

/** Converts nodes to plain data and records the source location of each. */
class Reader {
  readonly problems: FileProblem[] = [];
  readonly places = new Map<string, Place>();
  readonly numbers = new Map<string, string>();
  readonly variables = new Set<string>();
  readonly #places: Places;
  readonly #env: Environment;

  constructor(places: Places, env: Environment) {
    this.#places = places;
    this.#env = env;
  }

  value(node: ParsedNode | null, path: readonly PropertyKey[], keyOffset?: number): unknown {
    const offset = node?.range[0] ?? keyOffset ?? 0;
    this.places.set(JSON.stringify(path), { key: keyOffset ?? offset, value: offset });
    const refuse = (message: string): undefined => {
      this.problems.push(this.#places.problem(offset, path, message));
      return undefined;
    };
    if (path.length > DEPTH_MAX) return refuse(`nested more than ${DEPTH_MAX} deep`);
    if (isAlias(node)) return refuse(`aliases such as *${node.source} are not supported: repeat the value`);
    if (isSeq(node)) return node.items.map((item, i) => this.value(item, [...path, i]));
    if (isMap(node)) return this.#map(node, path);
    const value: unknown = node?.value ?? undefined;
    if (value === undefined) {
      this.problems.push(
        this.#places.problem(
          keyOffset ?? offset,
          path,
          'the value is missing: write one, or remove the line',
        ),
      );
      return undefined;
    }
    if (typeof value === 'number' && isScalar(node)) {
      if (!PLAIN_NUMBER.test(node.source))
        return refuse(
          `${node.source} can be read in more than one way: write the number with digits and a point`,
        );
      this.numbers.set(JSON.stringify(path), node.source);
    }
    return typeof value === 'string' ? this.#text(value, path, offset) : value;
  }

  #map(node: ParsedNode & { items: readonly unknown[] }, path: readonly PropertyKey[]): unknown {
    const result: Record<string, unknown> = {};
    const seen = new Map<string, number>();
    if (!isMap<ParsedNode, ParsedNode | null>(node)) return result;
    for (const { key, value } of node.items) {
      const offset = key.range[0];
      const refuse = (name: string, message: string): void => {
        this.problems.push(this.#places.problem(offset, name === '' ? path : [...path, name], message));
      };
      if (!isScalar(key) || key.value === null) {
        refuse('', 'expected a plain name before the colon');
        continue;
      }
      const name = typeof key.value === 'string' ? key.value : (key.source ?? '');
      const first = seen.get(name);
      if (first !== undefined) {
        refuse(
          name,
          `"${name}" is written twice, first on line ${this.#places.lineOf(first)}: remove one of them`,
        );
      } else if (FORBIDDEN_KEYS.has(name)) {
        refuse(name, `"${name}" cannot be the name of a setting`);
      } else if (name === '<<') {
        refuse(name, 'merge keys (<<) are not supported: write the settings out');
      } else {
        seen.set(name, offset);
        result[name] = this.value(value, [...path, name], offset);
      }
    }
    return result;
  }

  /** Replaces every `${NAME}` in a string. Does not expand substituted values again. */
  #text(text: string, path: readonly PropertyKey[], offset: number): string {
    if (/^\$\{[^}]*\}$/u.test(text)) this.variables.add(JSON.stringify(path));
    return text.replaceAll(/\$\{(?<name>[^}]*)\}/gu, (whole, name: string) => {
      const refuse = (message: string): string => {
        this.problems.push(this.#places.problem(offset, path, message));
        return whole;
      };
      if (!/^[A-Za-z_]\w*$/u.test(name)) {
        return refuse(`${whole} is not a variable: write \${NAME} with letters, digits and underscores`);
      }
      const found = Object.hasOwn(this.#env, name) ? this.#env[name] : undefined;
      if (found === undefined || found.trim() === '') {
        const how = found === undefined ? 'not set' : 'empty';
        return refuse(
          `the environment variable ${name} is ${how}: set it before starting, or write a value here`,
        );
      }
      return found;
    });
  }
}

/** Translates the errors of the parser into plain language. One cause often produces several errors. */
function syntaxProblems(errors: readonly YAMLError[], places: Places): readonly FileProblem[] {
  const tabs = errors.filter(({ code }) => code === 'TAB_AS_INDENT');
  const deeper = tabs.length > 0 ? undefined : deeperLine(errors, places);
  if (deeper !== undefined) return [places.problem(deeper, [], inPlainWords.BAD_INDENT ?? '')];
  const shown = tabs.length > 0 ? tabs : errors.slice(0, 1);
  return shown.map((error) => places.problem(error.pos[0], [], explain(error)));
}

/**
 * Returns the offset of a setting that is indented more deeply than the preceding value, because YAML reads such a
 * setting as part of that value.
 */
function deeperLine([first, ...others]: readonly YAMLError[], places: Places): number | undefined {
  if (first?.code !== 'BLOCK_AS_IMPLICIT_KEY') return undefined;
  const [from] = first.pos;
  const whole = others.find(({ code, pos }) => code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === from);
  return whole && places.firstOf(whole.pos[1]);
}

function explain({ code, message }: YAMLError): string {
  if (code === 'BAD_INDENT' && message.startsWith('Flow')) {
    return 'an opening bracket is not closed: add the missing } or ]';
  }
  if (code === 'MISSING_CHAR' && message.includes('quote')) {
    return 'an opening quote is not closed: add the missing quote';
  }
  return inPlainWords[code] ?? `this is not YAML: ${message}`;
}

const inPlainWords: Partial<Record<YAMLError['code'], string>> = {
  TAB_AS_INDENT: 'this line is indented with a tab, which YAML does not allow: indent with spaces',
  BAD_INDENT:
    'the indentation does not match the lines before: settings of one group must start in the same column',
  BLOCK_AS_IMPLICIT_KEY:
    'a second colon on one line: put the value in quotation marks, or the second setting on a line of its own',
  BAD_SCALAR_START: 'a value cannot start with this character: put the value in quotation marks',
  TAG_RESOLVE_FAILED: 'tags such as !name are not supported: write the plain value',
};
