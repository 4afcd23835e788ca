import { z } from 'zod';
import { whole } from '../../strategy/fields.ts';
import { bps, timeZone } from '../config/config-controls.ts';

/** Presets of `src/research/run/model.ts`, which a start does not load. */
export const MODELS: readonly string[] = ['tight', 'normal', 'stressed'];

/** Returns whether `model` is the path of a file, as for `--model`. */
export const isModelFile = (model: string): boolean => /[./\\]/u.test(model);

/** Settings under `operate.twin`. */
export const twinSchema = z.lazy(() =>
  z.strictObject({
    model: z
      .string()
      .refine((model) => isModelFile(model) || MODELS.includes(model), {
        error: `expected ${MODELS.join(', ')}, or a YAML file such as ./model.yaml`,
      })
      .default('normal')
      .describe(
        'Model of the venue: tight, normal, stressed, or a YAML file such as the one that tranche calibrate writes, relative to this file; default: normal',
      ),
    bound_bps: bps
      .prefault(5)
      .describe('Largest difference that is not a finding, basis points of the traded value; default: 5'),
    days: whole
      .min(1)
      .max(365)
      .default(3)
      .describe('Number of consecutive days beyond the bound that raises an alert; default: 3'),
    time_zone: timeZone.describe('IANA time zone in which a day begins; default: UTC'),
  }),
);
