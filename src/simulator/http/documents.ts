import { asyncApi } from '../../wire/documents/asyncapi.ts';
import type { JsonSchema } from '../../wire/documents/json-schema.ts';
import { openApi } from '../../wire/documents/openapi.ts';
import type { Answer } from './deliver.ts';
import { documentPage } from './documents-page.ts';
import { routes } from './routes.ts';

/** Version of the interface, which is part of its paths. */
const VERSION = '1';

export const openApiDocument = (): JsonSchema => openApi(routes, VERSION);
export const asyncApiDocument = (): JsonSchema => asyncApi(VERSION);

/** The interface documents, for programs and for readers. Their paths need no token, and the page loads nothing else. */
export const documentPages: ReadonlyMap<string, () => Answer> = new Map([
  ['/openapi.json', once(() => page(JSON.stringify(openApiDocument(), undefined, 2)))],
  ['/asyncapi.json', once(() => page(JSON.stringify(asyncApiDocument(), undefined, 2)))],
  [
    '/docs',
    once(() => page(documentPage(routes, openApiDocument(), asyncApiDocument()), 'text/html; charset=utf-8')),
  ],
]);

const page = (body: string, type?: string): Answer => ({ status: 200, body, type });

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
