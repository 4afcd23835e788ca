/** One word of a source file. Comments and spaces are gone. */
export interface Token {
  readonly type: 'word' | 'number' | 'text' | 'template' | 'pattern' | 'mark';
  /** The word itself; of a text its content, of a template or a pattern nothing. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** After one of these words a slash begins a pattern; after any other word or a closing bracket it divides. */
const BEFORE_PATTERN = new Set([
  'return', 'typeof', 'case', 'in', 'of', 'delete', 'void', 'throw', 'new', 'instanceof', 'await', 'yield', 'else', 'do',
]); // prettier-ignore

const SPACE = /\s+/uy;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//uy;
const WORD = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy;
const NUMBER = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.[\d_]+)?(?:[eE][+-]?\d+)?)n?/uy;
const TEXT = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/uy;
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/uy;
const MARK = /\.\.\.|\?\.(?!\d)|=>|[\s\S]/uy;

/** Takes TypeScript apart, as far as finding names, imports and calls needs it: what stands in texts is not code. */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;

  const take = (pattern: RegExp): string | undefined => {
    const sticky = pattern;
    sticky.lastIndex = at;
    const found = sticky.exec(source)?.[0];
    if (found === undefined) return undefined;
    at += found.length;
    return found;
  };
  const add = (type: Token['type'], text: string, whole: string): void => {
    tokens.push({ type, text, line });
    line += whole.split('\n').length - 1;
  };
  const mayBePattern = (): boolean => {
    const last = tokens.at(-1);
    if (last === undefined) return true;
    if (last.type === 'word') return BEFORE_PATTERN.has(last.text);
    return last.type === 'mark' && ![')', ']', '}'].includes(last.text);
  };
  /** The text of a template up to its end or its next `${`. */
  const templateText = (): void => {
    const from = at;
    while (at < source.length && source[at] !== '`' && !source.startsWith('${', at))
      at += source[at] === '\\' ? 2 : 1;
    add('template', '', source.slice(from, at));
  };
  /** Everything up to the end of the source, or of the `${…}` that it stands in. */
  const run = (isNested: boolean): void => {
    let depth = 0;
    while (at < source.length) {
      const gap = take(SPACE) ?? take(COMMENT);
      if (gap !== undefined) {
        line += gap.split('\n').length - 1;
        continue;
      }
      if (source[at] === '`') {
        at += 1;
        for (templateText(); source.startsWith('${', at); templateText()) {
          at += 2;
          run(true);
        }
        at += 1;
        continue;
      }
      const text = take(TEXT);
      const pattern = text === undefined && mayBePattern() ? take(PATTERN) : undefined;
      if (text !== undefined) add('text', text.slice(1, -1), text);
      else if (pattern === undefined) {
        const word = take(WORD);
        const number = word === undefined ? take(NUMBER) : undefined;
        const mark = word ?? number ?? take(MARK) ?? '';
        if (isNested && mark === '}' && depth === 0) return;
        if (mark === '{') depth += 1;
        if (mark === '}') depth -= 1;
        add(word === undefined ? (number === undefined ? 'mark' : 'number') : 'word', mark, mark);
      } else add('pattern', '', pattern);
    }
  };
  run(false);
  return tokens;
}

/** An import, a re-export or an `import()`. */
export interface Import {
  /** As written; `undefined` when it is not a literal. */
  readonly from: string | undefined;
  readonly line: number;
  /** Only types: gone when the program runs. */
  readonly isType: boolean;
  /** Words between `import` and `from`. */
  readonly names: readonly string[];
}

export function importsOf(tokens: readonly Token[]): readonly Import[] {
  const found: Import[] = [];
  tokens.forEach((token, index) => {
    const next = tokens[index + 1];
    if (token.type !== 'word' || next === undefined || tokens[index - 1]?.text === '.') return;
    if (token.text === 'import' && next.text === '(') {
      const target = tokens[index + 2];
      found.push({
        from: target?.type === 'text' ? target.text : undefined,
        line: token.line,
        isType: tokens[index - 1]?.text === 'typeof',
        names: [],
      });
    } else if (token.text === 'import' && next.type === 'text') {
      found.push({ from: next.text, line: token.line, isType: false, names: [] });
    } else if ((token.text === 'import' && next.text !== '.') || token.text === 'export') {
      const clause = clauseFrom(tokens, index);
      if (clause !== undefined) found.push(clause);
    }
  });
  return found;
}

/** Reads `import … from 'x'` and `export … from 'x'`; `undefined` for exports of something declared right there. */
function clauseFrom(tokens: readonly Token[], start: number): Import | undefined {
  const names: string[] = [];
  for (let index = start + 1; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) return undefined;
    const target = tokens[index + 1];
    if (token.text === 'from' && target?.type === 'text') {
      const line = tokens[start]?.line ?? 0;
      return { from: target.text, line, isType: tokens[start + 1]?.text === 'type', names };
    }
    const isClause = token.type === 'word' || ['{', '}', ',', '*'].includes(token.text);
    if (!isClause || ['const', 'function', 'class', 'interface', 'let', 'async'].includes(token.text))
      return undefined;
    if (token.type === 'word') names.push(token.text);
  }
  return undefined;
}
