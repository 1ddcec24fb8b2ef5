/** Keeps the end of a conversation in sight while its user is there. */
import { useEffect, useState } from 'preact/hooks';

/** So near the end counts as there. */
const NEAR_PX = 48;

interface Facts {
  /** Changes when another conversation is shown. */
  readonly conversation: string;
  /** Grows with each message that is sent: what was sent is shown, wherever its user had scrolled. */
  readonly sends: number;
}

/** Whether the end is in sight, and the way to it. */
export function useFollowing(
  scroller: { readonly current: HTMLDivElement | null },
  { conversation, sends }: Facts,
): { readonly isAtEnd: boolean; readonly toEnd: () => void } {
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = () => {
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  useEffect(() => {
    const element = scroller.current;
    const content = element?.querySelector('.entries');
    if (!element || !content) return;
    let isFollowing = true;
    toEnd();
    setAtEnd(true);
    const onScroll = () => {
      isFollowing = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
      setAtEnd(isFollowing);
    };
    const observer = new ResizeObserver(() => {
      if (isFollowing) toEnd();
      else onScroll();
    });
    observer.observe(content);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [conversation]);
  useEffect(toEnd, [sends]);
  return { isAtEnd, toEnd };
}
