import { Trash2 } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from '../parts/icon.tsx';
import { pending, remove } from './models-state.ts';

/** A click elsewhere is over before the question goes, so that nothing moves under it. */
const LEAVE_MS = 250;

/** Asks before it removes; the question goes away when neither the focus nor the pointer is on it. */
export function RemoveButton({ id, question }: { id: string; question: string }) {
  const isBusy = pending.value.has(id);
  const [isAsking, setAsking] = useState(false);
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isAsking) keep.current?.focus();
  }, [isAsking]);
  useEffect(() => {
    if (isBusy) setAsking(false);
  }, [isBusy]);
  if (!isAsking) {
    return (
      <IconButton
        icon={Trash2}
        name="Remove"
        words="Remove"
        class="removes"
        disabled={isBusy}
        onClick={() => setAsking(true)}
      />
    );
  }
  const leave = ({ currentTarget }: { currentTarget: HTMLElement }) =>
    setTimeout(() => {
      if (!currentTarget.matches(':hover, :focus-within')) setAsking(false);
    }, LEAVE_MS);
  return (
    <div class="question" role="group" aria-label={`Remove ${id}`} onFocusOut={leave} onPointerLeave={leave}>
      <span>{question}</span>
      <button type="button" class="small danger" onClick={() => void remove(id)}>
        Remove {id}
      </button>
      <button type="button" class="small" ref={keep} onClick={() => setAsking(false)}>
        Keep it
      </button>
    </div>
  );
}
