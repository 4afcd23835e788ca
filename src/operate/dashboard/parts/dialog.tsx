import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { problemOf } from '../data/request.ts';
import { announce } from './toast.tsx';

interface DialogProps {
  readonly title: string;
  /** Description of the effect. */
  readonly children?: ComponentChildren;
  readonly confirm: string;
  readonly isDangerous?: boolean;
  /** Label of the reason; without it, no reason is requested. */
  readonly reason?: string;
  readonly isReasonNeeded?: boolean;
  /** Executes the action; the dialog shows its result. */
  readonly act: (why: string) => Promise<string>;
  readonly onClose: () => void;
}

/** Asks once, and shows the result. Escape and the first button change nothing. */
export function Dialog(props: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const why = useSignal('');
  const problem = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const act = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    problem.value = undefined;
    try {
      announce(await props.act(why.value.trim()));
      props.onClose();
    } catch (error) {
      problem.value = problemOf(error);
    }
    isBusy.value = false;
  };
  return (
    <dialog ref={dialog} aria-labelledby={`${id}-title`} onClose={props.onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          void act(event);
        }}
      >
        <h2 id={`${id}-title`}>{props.title}</h2>
        <div class="dialog-body">{props.children}</div>
        {props.reason !== undefined && (
          <label class="field">
            <span>{props.reason}</span>
            <input
              value={why}
              maxLength={500}
              required={props.isReasonNeeded ?? false}
              autocomplete="off"
              autofocus
              onInput={(event) => {
                why.value = event.currentTarget.value;
              }}
            />
          </label>
        )}
        <p class="problem" role="alert">
          {problem}
        </p>
        <div class="buttons">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={props.isDangerous === true ? 'button danger' : 'button primary'}
            disabled={isBusy}
          >
            {props.confirm}
          </button>
        </div>
      </form>
    </dialog>
  );
}
