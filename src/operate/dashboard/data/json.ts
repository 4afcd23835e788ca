/** Marks that reverse the text after them. A name with such a mark could make a line appear to state something else. */
const TURNS = /[\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** Parses text of the desk, and makes every mark visible that would change how the text around it reads. */
export const fromJson = (text: string): unknown =>
  // With a reviver for escaped marks, which is slower. The desk itself sends none.
  ESCAPED.test(text) ? JSON.parse(text, visible) : JSON.parse(text.replaceAll(TURNS, SHOWN));

const SHOWN = '\uFFFD';
const ESCAPED = /\\u20[0-6]/iu;
const visible = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(TURNS, SHOWN) : value;
