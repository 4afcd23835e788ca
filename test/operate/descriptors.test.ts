import { describe, expect, it } from 'vitest';
import { descriptorReader } from '../../src/operate/descriptors.ts';
import { ask } from '../support/http.ts';
import { operating } from '../support/operate.ts';

const LIMITS =
  'Limit   Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files\n';

describe('the file descriptors of the process', () => {
  it('are reported as all in use if none is left to count them, and not at all by other systems', () => {
    const open = (): never => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    };
    expect(descriptorReader({ limits: () => LIMITS, open })()).toEqual({ open: 1_024, max: 1_024 });
    expect(descriptorReader({ limits: () => 'other', open: () => 7 })()).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')(
    'are metrics: how many are open and how many permitted',
    async () => {
      const { text } = await ask(`${(await operating()).url}/metrics`);
      expect(text).toMatch(/^tranche_open_descriptors\S* [1-9]\d*$/mu);
      expect(text).toMatch(/^tranche_max_descriptors\S* [1-9]\d*$/mu);
    },
  );
});
