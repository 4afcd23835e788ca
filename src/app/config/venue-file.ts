import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { faultPlanSchema } from '../../simulator/faults/faults.ts';
import type { FaultPlan } from '../../simulator/faults/faults.ts';
import { venueOptionsSchema } from '../../simulator/options/options.ts';
import type { VenueOptions } from '../../simulator/options/options.ts';
import { unusable } from './config.ts';
import { explain } from './explain.ts';
import { problemAt, readFile, shownPath } from './files.ts';
import type { ReadOptions } from './files.ts';

/** Reads the options of the simulated venue from their own file. @throws OperatorError `config`, with every problem. */
export function loadVenueOptions(file: string, options: ReadOptions): VenueOptions {
  const { path, value } = loadDocument(file, venueOptionsSchema, options);
  const prices = Object.entries(value.prices).map(([pair, tape]) => [pair, resolve(dirname(path), tape)]);
  return { ...value, prices: Object.fromEntries(prices) as Record<string, string> }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- entries of texts
}

/** Reads a fault plan, as in `config/faults`. @throws OperatorError `config`, with every problem. */
export const loadFaultPlan = (file: string, options: ReadOptions): FaultPlan =>
  loadDocument(file, faultPlanSchema, options).value;

/** Reads and validates one YAML document. @throws OperatorError `config`, with every problem. */
export function loadDocument<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  options: ReadOptions,
): { readonly path: string; readonly value: z.output<Schema> } {
  const path = resolve(options.cwd, file);
  const { documents, problems } = readFile(path, options);
  if (problems.length > 0) throw unusable(problems);
  const [document, second] = documents;
  if (second !== undefined) {
    throw unusable([
      second.problem([], 'the file must contain one YAML document: remove --- and everything after it'),
    ]);
  }
  if (document === undefined) {
    throw unusable([
      problemAt(shownPath(path, options.cwd), 'the file is empty; create an example with "tranche init"'),
    ]);
  }
  const parsed = schema.safeParse(document.value);
  if (!parsed.success) throw unusable(explain(parsed.error, schema, document));
  return { path, value: parsed.data };
}
