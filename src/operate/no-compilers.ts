import type { FastifyServerOptions } from 'fastify';

/**
 * Keeps Fastify from loading its compilers of JSON Schema, which took 25 of the 90 ms that Fastify adds to a start: zod checks what
 * routes receive.
 */
export const noCompilers: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};

/** Fails when a route has a schema of Fastify, which nothing would check. */
function refuse(): never {
  throw new Error('invariant broken: routes have no schemas of Fastify');
}
