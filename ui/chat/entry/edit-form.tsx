import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useEscape } from '../../parts/escape.ts';
import { current } from '../talk/conversations.ts';
import { draftNameBelow, draftOf, setDraft } from '../talk/drafts.ts';

interface Facts {
  readonly label: string;
  readonly entryId: string;
  readonly text: string;
  readonly submit: string;
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
}

export function EditForm({ label, entryId, text, submit, onSubmit, onCancel }: Facts) {
  const name = draftNameBelow(current.value.id, entryId);
  const [written, setWritten] = useState(draftOf(name) || text);
  const field = useRef<HTMLTextAreaElement>(null);
  const write = (now: string) => {
    setWritten(now);
    setDraft(name, now === text ? '' : now);
  };
  const cancel = () => {
    setDraft(name, '');
    onCancel();
  };
  useEscape(true, cancel);
  // Before the first frame, so that no key is lost.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(written.length, written.length);
  }, []);
  const isUnusable = written.trim() === '';
  const send = () => {
    if (isUnusable) return;
    setDraft(name, '');
    onSubmit(written);
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
