import { Option } from '@commander-js/extra-typings';

/** Default folder of imported market history; `--cache` overrides it. */
export const TAPES = './var/tapes';

/** Returns the option that all commands that read market history share, so that each finds the imports of the others. */
export const cacheOption = (): Option<'--cache <folder>', undefined, string> =>
  new Option('--cache <folder>', 'cache folder for imported market history')
    .env('TRANCHE_CACHE')
    .default(TAPES);
