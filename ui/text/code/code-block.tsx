import { signal } from '@preact/signals';
import { Eye, WrapText } from 'lucide';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IconButton } from '../../parts/icon.tsx';
import type * as part from './highlight.ts';
import { canPreview, HtmlPreview } from './html-preview.tsx';

type Highlight = typeof part.highlight;
const highlighter = signal<Highlight | null>(null);
let isAsked = false;

/** Longer code has no colours, because parsing it would block the page. */
const MOST_CHARS = 40_000;

export function CodeBlock({ text, language }: { text: string; language: string }) {
  const [isWrapped, setWrapped] = useState(false);
  const [isPreviewed, setPreviewed] = useState(false);
  useEffect(fetchOnce, []);
  const name = /^[\w+#.-]{1,24}/.exec(language)?.[0] ?? 'text';
  const colour = highlighter.value;
  const coloured = useMemo(
    () => (text.length > MOST_CHARS ? null : (colour?.(text, name) ?? null)),
    [colour, text, name],
  );
  return (
    <figure class={isWrapped ? 'code wrapped' : 'code'}>
      <figcaption>
        <span>{name}</span>
        {canPreview(name.toLowerCase(), text) ? (
          <IconButton
            icon={Eye}
            name="Preview"
            words="Preview"
            isPressed={isPreviewed}
            onClick={() => setPreviewed(!isPreviewed)}
          />
        ) : null}
        <IconButton
          icon={WrapText}
          name="Wrap long lines"
          isPressed={isWrapped}
          onClick={() => setWrapped(!isWrapped)}
        />
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0} aria-label={`Code, ${name}`}>
        <code>{coloured ?? text}</code>
      </pre>
      {isPreviewed ? <HtmlPreview key={text} text={text} /> : null}
    </figure>
  );
}

function fetchOnce(): void {
  if (isAsked) return;
  isAsked = true;
  import('./highlight.ts').then(
    ({ highlight }) => (highlighter.value = highlight),
    () => (isAsked = false),
  );
}
