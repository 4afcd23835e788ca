import type { FastifyInstance } from 'fastify';
import { Gauge, Registry } from 'prom-client';
import { senderOf } from './api/caller.ts';
import type { Authenticator, Bearer } from './access.ts';
import type { Monotonic } from '../core/time.ts';
import type { Metrics } from './metrics.ts';

/** The owner of a desk, as a standby read it from the database. */
export interface DeskOwner {
  /** Names the process and its machine. */
  readonly owner: string;
  /** URL of its API; omitted: it serves none, or not yet. */
  readonly address?: string | undefined;
}

/** A process that waits to take over its desk. */
export interface Standby {
  readonly desk: string;
  readonly owner: () => DeskOwner;
  readonly bearers: readonly Bearer[];
  readonly now: () => Monotonic;
}

/** One line about the owner, for people. */
export const standbyWords = ({ desk, owner }: Pick<Standby, 'desk' | 'owner'>): string => {
  const { owner: name, address } = owner();
  const at = address === undefined ? 'which serves no API' : `whose API is at ${address}`;
  return `this process is a standby of desk ${desk}; the owner is ${name}, ${at}`;
};

/** Responds to every request of the API with the owner's address. A standby executes nothing and forwards nothing. */
export function addStandby(server: FastifyInstance, standby: Standby, authenticator: Authenticator): void {
  server.setNotFoundHandler(async (request, reply) => {
    if (senderOf(request, authenticator) === undefined)
      return await reply.code(401).send({ error: 'a bearer token is required' });
    const says = standbyWords(standby);
    return await reply
      .code(503)
      .send({ standby: true, desk: standby.desk, ...standby.owner(), error: says, says });
  });
}

/** The only metric of a standby; an owner exposes all others. */
export function createStandbyMetric(registry: Registry): Gauge {
  const help = 'Whether the process stands by for another owner of the desk';
  return new Gauge({ name: 'tranche_standby', help, registers: [registry] });
}

export function standbyMetrics(labels: {
  readonly desk: string;
  readonly mode: string;
}): Pick<Metrics, 'text' | 'contentType'> {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  createStandbyMetric(registry).set(1);
  return { contentType: registry.contentType, text: async () => await registry.metrics() };
}
