import { describeBands } from './bands.ts';

describeBands(200);
