import { resolve } from 'node:path';
import { venueTape } from '../../research/run/tape-market.ts';
import type { PriceTape } from '../../simulator/market/price-tape.ts';
import { readTape } from './tape-file.ts';

/** Reads the prices of a pair for a simulated venue, from any file that `data import` reads. @throws OperatorError as `readTape`. */
export async function loadPriceTape(pair: string, file: string, cwd: string): Promise<PriceTape> {
  // No cache, because a venue must not leave a folder where it was started.
  return venueTape(await readTape({ pair, name: resolve(cwd, file), cwd }));
}
