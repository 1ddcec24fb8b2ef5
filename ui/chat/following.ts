import { useLayoutEffect, useRef, useState } from 'preact/hooks';

const NEAR_PX = 48;

export function useFollowing(
  scroller: { readonly current: HTMLDivElement | null },
  /** Grows with each sent message, which scrolls to the end wherever the user was. */
  sends: number,
): { readonly isAtEnd: boolean; readonly toEnd: () => void } {
  const [isAtEnd, setAtEnd] = useState(true);
  const isFollowing = useRef(true);
  const toEnd = () => {
    isFollowing.current = true;
    setAtEnd(true);
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  // In the first frame: later growth or scrolling does not concern the start.
  useLayoutEffect(() => {
    const element = scroller.current;
    const content = element?.querySelector('.entries');
    if (!element || !content) return;
    toEnd();
    let { scrollTop: last } = element;
    const onScroll = () => {
      const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
      // Only the user scrolls up; new text below is no reason to stop following.
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
  }, []);
  useLayoutEffect(toEnd, [sends]);
  return { isAtEnd, toEnd };
}
