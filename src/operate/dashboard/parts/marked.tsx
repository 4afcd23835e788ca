import type { JSX } from 'preact';

/** Text in which names and commands stand between backticks. */
export const Marked = ({ text }: { readonly text: string }): JSX.Element => (
  <>{text.split('`').map((part, n) => (n % 2 === 1 ? <code key={n}>{part}</code> : part))}</>
);
