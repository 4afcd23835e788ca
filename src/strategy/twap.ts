import { z } from 'zod';
import { slicedStrategy } from './sliced.ts';
import { slicedFields } from './sliced-fields.ts';

/** Works a total off in equal parts. */
export const twap = slicedStrategy({
  kind: 'twap',
  summary: 'equal slices over a window, buy or sell',
  params: z.lazy(() => z.strictObject(slicedFields())),
});
