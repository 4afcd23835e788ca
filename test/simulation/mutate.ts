import { mutantOf } from './mutants.ts';
import { layOver } from './overlay.ts';

/**
 * Loaded before everything else (`--import`), with the name of a mutant in SIMULATION_MUTANT: lays its patches over the
 * source as it is loaded.
 */
const name = process.env['SIMULATION_MUTANT'];
if (name !== undefined) layOver(mutantOf(name).patches);
