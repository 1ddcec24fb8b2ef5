import type { IconNode } from 'lucide';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './icon.tsx';

/** Delays the removal of the question, so that a click on another element ends before anything moves under it. */
const LEAVE_MS = 250;

interface Facts {
  readonly icon: IconNode;
  readonly about: string;
  readonly name: string;
  readonly words?: string;
  readonly question: string;
  readonly yes: string;
  readonly no: string;
  /** Kept by the parent, so that the question survives a new rendering. */
  readonly isAsking: boolean;
  readonly onAsk: (isAsking: boolean) => void;
  readonly isBusy: boolean;
  readonly onYes: () => void;
}

export function AskingButton(facts: Facts) {
  const { icon, about, name, words, question, yes, no, isAsking, onAsk, isBusy, onYes } = facts;
  const keep = useRef<HTMLButtonElement>(null);
  // Before the first frame, so that no key is lost.
  useLayoutEffect(() => {
    if (isAsking) keep.current?.focus();
  }, [isAsking]);
  useEffect(() => {
    if (isBusy) onAsk(false);
  }, [isBusy]);
  if (!isAsking) {
    return (
      <IconButton
        icon={icon}
        name={name}
        words={words}
        class="removes"
        disabled={isBusy}
        onClick={() => onAsk(true)}
      />
    );
  }
  const leave = ({ currentTarget }: { currentTarget: HTMLElement }) =>
    setTimeout(() => {
      // The question may have been replaced by a newer one.
      if (currentTarget.isConnected && !currentTarget.matches(':hover, :focus-within')) onAsk(false);
    }, LEAVE_MS);
  return (
    <div class="question" role="group" aria-label={about} onFocusOut={leave} onPointerLeave={leave}>
      <span>{question}</span>
      <button type="button" class="small danger" onClick={onYes}>
        {yes}
      </button>
      <button type="button" class="small" ref={keep} onClick={() => onAsk(false)}>
        {no}
      </button>
    </div>
  );
}
