import { describeBands } from './bands.ts';

describeBands(8);
