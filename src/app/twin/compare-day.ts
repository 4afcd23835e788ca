import { once } from 'node:events';
import { dirname, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { OperatorError } from '../../core/errors.ts';
import { text } from '../../core/money.ts';
import { HOUR_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { TwinReport } from '../../research/twin/twin-json.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/yaml.ts';
import type { DailyTwinConfig } from './daily-twin.ts';
import type { TwinTask } from './twin-worker.ts';

/** Script of the thread, with the extension of this file: `.js` once compiled. */
const SCRIPT = new URL(`twin-worker${extname(import.meta.url)}`, import.meta.url);
/** Memory of the thread. A journal that needs more ends the thread, not the desk. */
const HEAP_MB = 1_024;
/** Longest comparison. */
const TIMEOUT_MS = HOUR_MS;

export interface CompareDayOptions {
  readonly config: Pick<Config, 'file' | 'journal'>;
  readonly twin: DailyTwinConfig;
  readonly env: Environment;
  readonly now: () => Instant;
}

/** Compares one day as `tranche twin` does, on a thread that only reads the journal. Rejects with the message of the command. */
export const compareDay = ({ config, twin, env, now }: CompareDayOptions) =>
  async function compareOne(day: string, stopping: AbortSignal): Promise<TwinReport> {
    const { model, bound, timeZone: zone } = twin;
    const task: TwinTask = {
      options: {
        config: config.file,
        journal: config.journal,
        day,
        zone,
        model,
        assume: [],
        bound: text(bound),
      },
      io: { env: { ...env }, cwd: dirname(config.file), now: now() },
    };
    const worker = new Worker(SCRIPT, {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.unref();
    try {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `twin-worker.ts` posts
      const [{ printed, said }] = (await once(worker, 'message', { signal })) as [
        { readonly printed: string; readonly said: string },
      ];
      if (printed === '') throw new OperatorError('config', said.trim());
      return JSON.parse(printed) as TwinReport; // oxlint-disable-line typescript/no-unsafe-type-assertion -- `tranche twin --json` prints it
    } finally {
      void worker.terminate();
    }
  };
