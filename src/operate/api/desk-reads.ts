import type { z } from 'zod';
import type { apiRoutes } from './routes.ts';

type Schemas = typeof apiRoutes;

/** Paths for which a desk responds in the same way to every caller, with their parameters. */
export type ReadPath = Exclude<PathsWithQuery, '/api/v1/approvals'>;

type PathsWithQuery = {
  [Path in keyof Schemas]: Schemas[Path] extends { readonly query: z.ZodObject }
    ? Schemas[Path] extends { readonly isStream: true }
      ? never
      : Path
    : never;
}[keyof Schemas];

export type QueryOf<Path extends ReadPath> = z.output<Schemas[Path]['query']>;
export type AnswerOf<Path extends ReadPath> = z.input<Schemas[Path]['answer']>;

/** The response of each route. @throws Refusal with the message for the client. */
export type DeskReads = {
  readonly [Path in ReadPath]: (query: QueryOf<Path>) => AnswerOf<Path> | Promise<AnswerOf<Path>>;
};
