import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { noPostgres } from '../journal/postgres-server.ts';
import { fleetDrill, linesOf } from './support/fleet-drill.ts';

/** How long things go wrong; ten minutes by hand: `npm run drill:fleet`. */
const SECONDS = Number(process.env['FLEET_DRILL_SECONDS'] ?? 30);
const DESKS = Number(process.env['FLEET_DRILL_DESKS'] ?? 4);
const SEED = Number(process.env['FLEET_DRILL_SEED'] ?? 1);
const PROMOTE_EVERY = Number(process.env['FLEET_DRILL_PROMOTE_EVERY'] ?? 12);
/** What alone goes wrong, by its name in the report; empty: everything. */
const ONLY = process.env['FLEET_DRILL_ONLY'] ?? '';

/** The goal of a run of ten minutes. */
const TAKEOVERS_MIN = SECONDS >= 600 ? 300 : 1;
const HOURS_2 = 2 * 3_600_000;
const missing = noPostgres();

describe.skipIf(missing !== undefined)(
  `a fleet of three machines in which everything fails${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    const options = { seed: SEED, seconds: SECONDS, desks: DESKS, promoteEverySeconds: PROMOTE_EVERY };

    it('executes each order once, loses no fill, and trades again', { timeout: HOURS_2 }, async () => {
      const report = await fleetDrill({ ...options, ...(ONLY === '' ? {} : { only: ONLY }) });
      process.stdout.write(`${linesOf(report).join('\n')}\n`);
      expect(report.violations).toEqual([]);
      expect(report.fills).toBeGreaterThan(0);
      expect(report.takeovers).toBeGreaterThanOrEqual(TAKEOVERS_MIN);
    });
  },
);
