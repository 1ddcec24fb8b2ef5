import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useEscape } from '../../parts/escape.ts';
import { draftOf, setDraft } from '../talk/drafts.ts';

interface Facts {
  readonly label: string;
  readonly draft: string;
  readonly text: string;
  readonly submit: string;
  readonly isBusy?: boolean;
  /** Empties the draft when its text is used. */
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
}

export function EditForm({ label, draft, text, submit, isBusy = false, onSubmit, onCancel }: Facts) {
  const [written, setWritten] = useState(draftOf(draft) || text);
  const field = useRef<HTMLTextAreaElement>(null);
  const write = (now: string) => {
    setWritten(now);
    setDraft(draft, now === text ? '' : now);
  };
  const cancel = () => {
    setDraft(draft, '');
    onCancel();
  };
  useEscape(true, cancel);
  // Before the first frame, so that no key is lost.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(written.length, written.length);
  }, []);
  const isUnusable = isBusy || written.trim() === '';
  const send = () => {
    if (!isUnusable) onSubmit(written);
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
          value={written}
          readOnly={isBusy}
          rows={3}
          onInput={({ currentTarget }) => write(currentTarget.value)}
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
        <button type="button" class="quiet small" onClick={cancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
