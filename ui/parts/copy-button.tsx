import { Check, Copy } from 'lucide';
import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** `isSmall`: only the icon, with its name as a tooltip. */
export function CopyButton({
  text,
  label = 'Copy',
  isSmall = false,
}: {
  text: string;
  label?: string;
  isSmall?: boolean;
}) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async () => {
    // Missing on pages that come over plain HTTP from another machine.
    const isCopied = await (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error())).then(
      () => true,
      () => false,
    );
    setSaid(isCopied ? 'Copied' : 'Blocked by the browser');
    setTimeout(() => setSaid(null), 1500);
  };
  return (
    <button type="button" class="quiet small icon-button" title={label} onClick={() => void copy()}>
      <Icon of={said === 'Copied' ? Check : Copy} />
      <span class={isSmall && said === null ? 'unseen' : 'words'} aria-live="polite">
        {said ?? label}
      </span>
    </button>
  );
}
