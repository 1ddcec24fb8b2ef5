import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useEscape } from '../../parts/escape.ts';

interface Facts {
  readonly label: string;
  readonly text: string;
  readonly submit: string;
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
}

/** A message that is written anew in its place: Enter takes it, Escape leaves it as it was. */
export function EditForm({ label, text, submit, onSubmit, onCancel }: Facts) {
  const [draft, setDraft] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  useEscape(true, onCancel);
  // Before anything is drawn, so that no key is lost.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  const isUnusable = draft.trim() === '';
  const send = () => {
    if (!isUnusable) onSubmit(draft);
  };
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label>
        <span class="unseen">{label}</span>
        <textarea
          ref={field}
          value={draft}
          rows={3}
          onInput={({ currentTarget }) => setDraft(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
      </label>
      <div class="tools editing">
        <button type="submit" class="main small" disabled={isUnusable}>
          {submit}
        </button>
        <button type="button" class="quiet small" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
