import type { Signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

/** A part of a screen, with a title. */
export function Panel(props: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Beside the title. */
  readonly aside?: ComponentChildren;
  readonly class?: string;
}): JSX.Element {
  const id = useId();
  return (
    <section class={`panel ${props.class ?? ''}`} aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{props.title}</h2>
        {props.aside !== undefined && <div class="aside">{props.aside}</div>}
      </div>
      {props.children}
    </section>
  );
}

/** Why the displayed data may be outdated or missing. */
export const Problem = ({ of }: { readonly of: Signal<string | undefined> }): JSX.Element | null =>
  of.value === undefined ? null : (
    <p class="problem" role="alert">
      Not read: {of.value}
    </p>
  );

/** A fact with its name. */
export const Fact = (props: { readonly name: string; readonly children: ComponentChildren }): JSX.Element => (
  <div class="fact">
    <dt>{props.name}</dt>
    <dd>{props.children}</dd>
  </div>
);

/** The used or completed share of something. The text beside it states the same share. */
export const Bar = ({
  share,
  label,
  level = '',
}: {
  readonly share: number;
  readonly label: string;
  readonly level?: string;
}): JSX.Element => (
  <span
    class={`bar ${level}`}
    role="meter"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={Math.round(share * 100)}
  >
    <span style={{ width: `${(share * 100).toFixed(2)}%` }} />
  </span>
);

/** A short word for a state, with a colour. */
export const Tag = ({
  level = '',
  children,
}: {
  readonly level?: string;
  readonly children: ComponentChildren;
}): JSX.Element => <span class={`tag ${level}`}>{children}</span>;
