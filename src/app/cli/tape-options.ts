import { Option } from '@commander-js/extra-typings';

/** Default folder of imported market history; `--cache` overrides it. */
export const TAPES = './var/tapes';

/** Shared by all commands that read market history, so that each finds what another has imported. */
export const cacheOption = (): Option<'--cache <folder>', undefined, string> =>
  new Option('--cache <folder>', 'cache folder for imported market history')
    .env('TRANCHE_CACHE')
    .default(TAPES);
