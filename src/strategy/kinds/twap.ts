import { z } from 'zod';
import { slicedFields, slicedStrategy } from './sliced.ts';

/** Trades a total in equal slices. */
export const twap = slicedStrategy({
  kind: 'twap',
  summary: 'equal slices over a window, buy or sell',
  params: z.lazy(() => z.strictObject(slicedFields())),
});
