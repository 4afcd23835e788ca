import type { JSX } from 'preact';

/** Text with names and commands between backticks. */
export const Marked = ({ text }: { readonly text: string }): JSX.Element => (
  <>{text.split('`').map((part, n) => (n % 2 === 1 ? <code key={n}>{part}</code> : part))}</>
);
