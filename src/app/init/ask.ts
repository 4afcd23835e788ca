import type { Readable, Writable } from 'node:stream';
import type { Question } from './desk-answers.ts';

/** Streams through which `init` can ask a person. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
}

/** Asks one question. Returns `undefined` if the person cancels. */
export type Ask = (
  question: Question,
  fault: (text: string) => string | undefined,
) => Promise<string | undefined>;

/** Returns a function that asks a person at a terminal. The first question loads the library. */
export function askIn({ input, output }: Terminal): Ask {
  return async ({ asks, hint, otherwise, choices, isSecret }, fault) => {
    const { isCancel, password, select, text } = await import('@clack/prompts');
    const validate = (value: string | undefined): string | undefined => {
      const given = value === undefined || value === '' ? otherwise : value;
      return given === undefined ? `an answer is needed: ${hint}` : fault(given);
    };
    const message = choices === undefined ? `${asks} (${hint})` : asks;
    const answer =
      choices !== undefined
        ? await select({ message, options: [...choices], input, output, ...(otherwise === undefined ? {} : { initialValue: otherwise }) })
        : isSecret === true
          ? await password({ message, validate, input, output })
          : await text({ message, validate, input, output, ...(otherwise === undefined ? {} : { placeholder: otherwise, defaultValue: otherwise }) }); // prettier-ignore
    return isCancel(answer) ? undefined : answer;
  };
}
