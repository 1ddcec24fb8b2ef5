interface Facts {
  readonly text: string | null | undefined;
  /** It changes with every key, so that reading it out at once would interrupt who types. */
  readonly isWhileTyping?: boolean;
}

/** What went wrong, read out by screen readers at once; nothing while all is well. */
export function Failure({ text, isWhileTyping = false }: Facts) {
  if (text === null || text === undefined) return null;
  return (
    <p class="failure" role={isWhileTyping ? undefined : 'alert'}>
      {text}
    </p>
  );
}
