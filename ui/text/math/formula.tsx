import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type * as part from './typeset.ts';

type Typeset = typeof part.typeset;
const typeset = signal<Typeset | null>(null);
let isAsked = false;

export function Formula({ text, raw, isDisplayed }: { text: string; raw: string; isDisplayed: boolean }) {
  useEffect(fetchOnce, []);
  const draw = typeset.value;
  const drawn = useMemo(() => draw?.(text, isDisplayed) ?? null, [draw, text, isDisplayed]);
  if (drawn === null) return <code class="tex">{raw.trim()}</code>;
  return <span class={isDisplayed ? 'formula displayed' : 'formula'}>{drawn}</span>;
}

function fetchOnce(): void {
  if (isAsked) return;
  isAsked = true;
  import('./typeset.ts').then(
    ({ typeset: fetched }) => (typeset.value = fetched),
    () => (isAsked = false),
  );
}
