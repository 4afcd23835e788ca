import { describe } from 'vitest';
import { DRILLS, executesOnce } from './drills.ts';

describe('a desk in a fault drill', () => {
  executesOnce(DRILLS.answers);
});
