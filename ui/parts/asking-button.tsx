import type { IconNode } from 'lucide';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './icon.tsx';

/** A click elsewhere is over before the question goes, so that nothing moves under it. */
const LEAVE_MS = 250;

interface Facts {
  readonly icon: IconNode;
  /** What is asked about, for screen readers. */
  readonly about: string;
  readonly name: string;
  /** Words beside the picture; absent: the name is a tooltip. */
  readonly words?: string;
  readonly question: string;
  /** The buttons of the question. */
  readonly yes: string;
  readonly no: string;
  /** Kept by who shows it, so that a question survives what its place does meanwhile. */
  readonly isAsking: boolean;
  readonly onAsk: (isAsking: boolean) => void;
  readonly isBusy: boolean;
  readonly onYes: () => void;
}

/** Asks before it acts; the question goes away when neither the focus nor the pointer is on it. */
export function AskingButton(facts: Facts) {
  const { icon, about, name, words, question, yes, no, isAsking, onAsk, isBusy, onYes } = facts;
  const keep = useRef<HTMLButtonElement>(null);
  // Before anything is drawn, so that no key is lost.
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
      // A question that went meanwhile has nothing to do with one that was asked after it.
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
