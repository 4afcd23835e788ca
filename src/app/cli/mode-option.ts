import { Option } from '@commander-js/extra-typings';

type ModeOption = Option<
  '--mode <mode>',
  undefined,
  undefined,
  undefined,
  false,
  'paper' | 'dry_run' | 'live'
>;

/** Returns the option `--mode`; the description states whose mode it is. */
export const modeOption = (description = 'mode, instead of the one in the config'): ModeOption =>
  new Option('--mode <mode>', description).choices(['paper', 'dry_run', 'live']);
