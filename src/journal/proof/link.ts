import { hash } from 'node:crypto';

/**
 * The hash chain. The hash of a record is SHA-256, in hex, of
 *
 *     <hash before> "\n" <seq> "\n" <at, Unix ms> "\n" <canonical text of the body>
 *
 * so that anyone with the lines and the newest hash can prove offline that nothing was changed, removed or moved.
 */
export interface Line {
  /** From 1, without gaps. */
  readonly seq: number;
  /** Unix ms. */
  readonly at: number;
  readonly kind: string;
  /** Canonical text of the body. */
  readonly body: string;
  /** Hex. */
  readonly hash: string;
}

/** The end of a chain, to which the next record is appended. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** The previous hash of the first record. */
export const GENESIS = '0'.repeat(64);
export const EMPTY: Head = { seq: 0, hash: GENESIS };

export type Verdict =
  | { readonly ok: true; readonly count: number; readonly head: string }
  | {
      readonly ok: false;
      readonly seq: number;
      readonly why: string;
      /** End of the last intact record, if known; the damage follows it. */
      readonly near?: string;
    };

export const link = (before: string, seq: number, at: number, body: string): string =>
  hash('sha256', `${before}\n${seq}\n${at}\n${body}`);

/** SHA-256 of `text`, hex. */
export const sha256 = (text: string): string => hash('sha256', text);
