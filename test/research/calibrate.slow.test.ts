import { describe, expect, it } from 'vitest';
import { askedOf } from '../../src/research/calibrate/asks.ts';
import { isFitted } from '../../src/research/calibrate/fitted-setting.ts';
import type { SettingName } from '../../src/research/calibrate/fitted-setting.ts';
import { learn } from '../../src/research/calibrate/learn.ts';
import { presetModel } from '../../src/research/run/model.ts';
import { journalUnder, randomModel } from './calibrate.ts';

const SEEDS = 24;
const base = presetModel('normal');

/** The fits of one setting under many models: sums of the relative errors and widths, and how many intervals contained the truth. */
interface Found {
  error: number;
  width: number;
  held: number;
  count: number;
}

function over(slices: number): ReadonlyMap<SettingName, Found> {
  const found = new Map<SettingName, Found>();
  for (let n = 0; n < SEEDS; n++) {
    const model = randomModel(`slow ${n}`);
    const truth: Partial<Record<SettingName, number>> = {
      half_spread_bps: model.halfSpreadBps,
      impact_bps: model.impactBps,
      rejected_share: model.rejectedShare,
      unavailable_share: model.unavailableShare,
      unavailable_ms: model.unavailableMs,
      fee_bps: model.feeBps,
    };
    const asked = askedOf(journalUnder(model, { seed: `slow ${n}`, slices }));
    for (const fitted of learn(asked, { base })) {
      const of = truth[fitted.name];
      if (!isFitted(fitted) || of === undefined || of === 0) continue;
      const sum = found.get(fitted.name) ?? { error: 0, width: 0, held: 0, count: 0 };
      sum.error += Math.abs(fitted.value - of) / of;
      sum.width += (fitted.high - fitted.low) / of;
      // Fees and quotes are rounded, so they determine settings only to the third decimal.
      if (fitted.low <= of + 0.001 && fitted.high >= of - 0.001) sum.held++;
      sum.count++;
      found.set(fitted.name, sum);
    }
  }
  return found;
}

describe('calibration over many models', () => {
  it(
    'becomes more precise with more observations, and its intervals contain the true values',
    { timeout: 3_600_000 },
    () => {
      const [few, many] = [over(300), over(1_200)];
      for (const name of ['rejected_share', 'unavailable_share', 'unavailable_ms'] as const) {
        const [a, b] = [few.get(name), many.get(name)];
        if (a === undefined || b === undefined) throw new Error(`${name} was not learnt`);
        // Four times as many observations halve an interval; consecutive outages leave it slightly wider.
        expect(b.width / b.count).toBeLessThan((0.7 * a.width) / a.count);
        expect(b.error / b.count).toBeLessThan(a.error / a.count);
        for (const { held, count } of [a, b]) expect(held / count).toBeGreaterThan(0.8);
        expect(b.count).toBeGreaterThanOrEqual(SEEDS - 4);
      }
      for (const name of ['half_spread_bps', 'impact_bps', 'fee_bps'] as const) {
        const all = many.get(name);
        expect((all?.error ?? 1) / (all?.count ?? 1)).toBeLessThan(0.001);
        expect((all?.held ?? 0) / (all?.count ?? 1)).toBeGreaterThan(0.9);
      }
    },
  );
});
