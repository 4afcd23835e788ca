import { z } from 'zod';
import { slicedFields, slicedStrategy } from '../sliced/sliced.ts';

/** Works a total off in equal parts. */
export const twap = slicedStrategy({
  kind: 'twap',
  summary: 'equal slices over a window, buy or sell',
  params: z.lazy(() => z.strictObject(slicedFields())),
});
