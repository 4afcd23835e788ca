/**
 * Loaded before the program with `--import`, with the name of a mutant in the URL: breaks that rule of the product in this process and in
 * those that it starts with the same options. The patches are those of the simulations.
 */
const name = new URL(import.meta.url).searchParams.get('name');
if (name === null) throw new RangeError(`no name of a mutant in ${import.meta.url}`);
process.env['SIMULATION_MUTANT'] = name;
await import('../../../simulation/mutate.ts');
