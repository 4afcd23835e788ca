import type { JSX } from 'preact';

/** A choice among a few values, all of which are visible. */
export const Choices = (props: {
  /** Name of the choice, for screen readers. */
  readonly label: string;
  /** Values and their titles. */
  readonly of: Readonly<Record<string, string>>;
  readonly chosen: string;
  readonly onChoose: (value: string) => void;
}): JSX.Element => (
  <div class="choices" role="group" aria-label={props.label}>
    {Object.entries(props.of).map(([value, title]) => (
      <button
        type="button"
        key={value}
        aria-pressed={props.chosen === value}
        onClick={() => {
          props.onChoose(value);
        }}
      >
        {title}
      </button>
    ))}
  </div>
);

/** Number of days that a screen looks back or ahead. */
export const DAYS = { 1: '1 day', 7: '7 days', 30: '30 days' } as const;
