import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from './icons.tsx';

export type Level = 'good' | 'attention' | 'bad' | 'unknown';

/** The answer to the question of a screen, in one sentence. Screen readers read it when it changes. */
export function Verdict(props: {
  readonly level: Level;
  readonly sentence: string;
  readonly children?: ComponentChildren;
  /** Possible actions. */
  readonly commands?: ComponentChildren;
}): JSX.Element {
  const { level, sentence, children, commands } = props;
  const id = useId();
  return (
    <section class={`situation ${level}`} aria-labelledby={id}>
      <div class="sign" aria-hidden="true">
        <Icon name={level} />
      </div>
      <div class="says">
        <h1 id={id} aria-live="polite">
          {sentence}
        </h1>
        {children}
      </div>
      {commands}
    </section>
  );
}
