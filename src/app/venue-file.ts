import { dirname, resolve } from 'node:path';
import { venueOptionsSchema } from '../simulator/options.ts';
import type { VenueOptions } from '../simulator/options.ts';
import { unusable } from './config.ts';
import { explain } from './explain.ts';
import { problemAt, readFile, shownPath } from './files.ts';
import type { ReadOptions } from './files.ts';

/** Options of the simulated venue from a file of their own. @throws OperatorError `config`, with every problem. */
export function loadVenueOptions(file: string, options: ReadOptions): VenueOptions {
  const path = resolve(options.cwd, file);
  const { documents, problems } = readFile(path, options);
  if (problems.length > 0) throw unusable(problems);
  const [document, second] = documents;
  if (second !== undefined) {
    throw unusable([second.problem([], 'these options are one document: remove the --- and what follows')]);
  }
  if (document === undefined) {
    throw unusable([
      problemAt(shownPath(path, options.cwd), 'the file is empty: "tranche init" writes an example'),
    ]);
  }
  const parsed = venueOptionsSchema.safeParse(document.value);
  if (!parsed.success) throw unusable(explain(parsed.error, venueOptionsSchema, document));
  const prices = Object.entries(parsed.data.prices).map(([pair, tape]) => [
    pair,
    resolve(dirname(path), tape),
  ]);
  return { ...parsed.data, prices: Object.fromEntries(prices) as Record<string, string> }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- entries of texts
}
