import { describe } from 'vitest';
import { DRILLS, executesOnce, keepsOpen, reportsTwice } from './drills.ts';

describe('a desk in a fault drill', () => {
  executesOnce(DRILLS.late);
  keepsOpen(DRILLS.open);
  reportsTwice(DRILLS.twice);
});
