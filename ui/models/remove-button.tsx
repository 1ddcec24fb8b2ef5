import { useEffect, useRef, useState } from 'preact/hooks';
import { pending, remove } from './models-state.ts';

/** How long a question stays open that nobody answers. */
const ARMED_MS = 8000;
const LEAVE_MS = 250;

/** Asks before it removes; the question goes away with the focus, after a while, or when anything else is done. */
export function RemoveButton({ id, question }: { id: string; question: string }) {
  const isBusy = pending.value.has(id);
  const [isAsking, setAsking] = useState(false);
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isAsking) return;
    keep.current?.focus();
    const timer = setTimeout(() => setAsking(false), ARMED_MS);
    return () => clearTimeout(timer);
  }, [isAsking]);
  useEffect(() => {
    if (isBusy) setAsking(false);
  }, [isBusy]);
  if (!isAsking) {
    return (
      <button type="button" class="quiet small" disabled={isBusy} onClick={() => setAsking(true)}>
        Remove
      </button>
    );
  }
  // A click elsewhere is over before the question goes, so that nothing moves under it.
  const leave = ({ currentTarget }: { currentTarget: HTMLElement }) =>
    setTimeout(() => {
      if (!currentTarget.contains(document.activeElement)) setAsking(false);
    }, LEAVE_MS);
  return (
    <div class="question" role="group" aria-label={`Remove ${id}`} onFocusOut={leave}>
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
