import type { JSX } from 'preact';

const paths = {
  good: 'M5 12.5l4.5 4.5L19 7.5',
  attention: 'M12 4l9 16H3zM12 10v4.5M12 17.2v.3',
  bad: 'M8 3h8l5 5v8l-5 5H8l-5-5V8zM12 7.5v6M12 16.3v.3',
  unknown: 'M9 9.5a3 3 0 1 1 4 2.8c-.8.4-1 .9-1 1.9M12 17.3v.3M12 3a9 9 0 1 0 .01 0',
  halt: 'M7 7h10v10H7z',
  now: 'M4 12h4l2-6 4 12 2-6h4',
  slices: 'M4 19V11M10 19V5M16 19v-9M21 19H3',
  why: 'M9 9.5a3 3 0 1 1 4 2.8c-.8.4-1 .9-1 1.9M12 17.3v.3M12 3a9 9 0 1 0 .01 0',
  approvals: 'M4 12.5l4 4 5-6M12 15.5l1 1 7-9',
  limits: 'M4 17a8 8 0 1 1 16 0M12 17l4-6',
  doubts: 'M12 4l9 16H3zM12 10v4.5M12 17.2v.3',
  plan: 'M5 6h14v14H5zM5 10h14M9 3v4M15 3v4',
  cost: 'M4 18l5-6 4 3 7-9',
  record: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7',
  people:
    'M8.5 11a3.5 3.5 0 1 0-.01 0M2.5 20c.6-4 3-6 6-6s5.400 2 6 6M16 11a3 3 0 0 0 0-6M17.500 14c2.200.6 3.600 2.600 4 6',
} as const;
export type IconName = keyof typeof paths;

/** An icon beside a text. It adds no information. */
export const Icon = ({ name }: { readonly name: IconName }): JSX.Element => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);
