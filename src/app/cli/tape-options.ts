import { Option } from '@commander-js/extra-typings';

/** Where market history is kept once it was read, unless `--cache` says otherwise. */
export const TAPES = './var/tapes';

/** One for all commands that read market history: what one has read, the others find. */
export const cacheOption = (): Option<'--cache <folder>', undefined, string> =>
  new Option('--cache <folder>', 'cache folder for imported market history')
    .env('TRANCHE_CACHE')
    .default(TAPES);
