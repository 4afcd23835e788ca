/** Marks that turn the text after them around: with one in a name, a line reads as what it does not say. */
const TURNS = /[\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** What the desk sent, with every mark that would change how the text around it reads made visible. */
export const fromJson = (text: string): unknown =>
  // A reviver for those that are written as escapes, which is slower, and which the desk does not send.
  ESCAPED.test(text) ? JSON.parse(text, visible) : JSON.parse(text.replaceAll(TURNS, SHOWN));

const SHOWN = '\uFFFD';
const ESCAPED = /\\u20[0-6]/iu;
const visible = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(TURNS, SHOWN) : value;
