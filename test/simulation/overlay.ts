import { registerHooks } from 'node:module';
import type { Patch } from './mutants.ts';

/** Lays patches over the source as it is loaded. Nothing on the disk changes. */
export function layOver(patches: readonly Patch[]): void {
  const left = new Map(patches.map((patch) => [patch, new URL(`../../${patch.file}`, import.meta.url).href]));
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const mine = [...left].filter(([, href]) => href === url).map(([patch]) => patch);
      if (mine.length === 0) return loaded;
      let source =
        typeof loaded.source === 'string'
          ? loaded.source
          : Buffer.from(loaded.source as Uint8Array).toString('utf8');
      for (const { find, replace, file } of mine) {
        if (source.split(find).length !== 2)
          throw new Error(`${file} does not hold this exactly once: ${find}`);
        source = source.replace(find, () => replace);
      }
      return { ...loaded, source };
    },
  });
}
