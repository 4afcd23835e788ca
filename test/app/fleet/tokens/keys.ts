import type { KeyObject } from 'node:crypto';
import { readTokenKey } from '../../../../src/app/fleet/tokens/sealed-token.ts';

export const KEY_TEXT = Buffer.alloc(32, 7).toString('base64');
export const OTHER_KEY_TEXT = Buffer.alloc(32, 8).toString('base64');

export function keyFrom(text: string): KeyObject {
  const read = readTokenKey({ TRANCHE_TOKEN_KEY: text });
  if (read === undefined) throw new Error('no key');
  return read.key;
}
