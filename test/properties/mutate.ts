import { layOver } from '../simulation/overlay.ts';
import { mutants } from './mutants.ts';

/** Loaded before everything else (`--import`), with the name of a mutant in PROPERTIES_MUTANT: lays its patches over the source. */
const name = process.env['PROPERTIES_MUTANT'];
if (name !== undefined) {
  const mutant = mutants.find((one) => one.name === name);
  if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
  layOver(mutant.patches);
}
