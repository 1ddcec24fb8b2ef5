/** Keeps the end of a conversation in sight while its user is there. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

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
  const isFollowing = useRef(true);
  const toEnd = () => {
    isFollowing.current = true;
    setAtEnd(true);
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  // In the frame in which it is shown: what grows or is scrolled after that is no matter of the beginning.
  useLayoutEffect(() => {
    const element = scroller.current;
    const content = element?.querySelector('.entries');
    if (!element || !content) return;
    toEnd();
    let { scrollTop: last } = element;
    const onScroll = () => {
      const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
      // Only its user scrolls up; what has grown since is no reason to stay behind.
      if (isNear) isFollowing.current = true;
      else if (element.scrollTop < last) isFollowing.current = false;
      last = element.scrollTop;
      setAtEnd(isFollowing.current);
    };
    const observer = new ResizeObserver(() => {
      if (isFollowing.current) toEnd();
      else onScroll();
    });
    observer.observe(content);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [conversation]);
  useLayoutEffect(toEnd, [sends]);
  return { isAtEnd, toEnd };
}
