interface Facts {
  readonly text: string | null | undefined;
  /** It changes with every key, so a screen reader must not interrupt the user. */
  readonly isWhileTyping?: boolean;
}

export function Failure({ text, isWhileTyping = false }: Facts) {
  if (text === null || text === undefined) return null;
  return (
    <p class="failure" role={isWhileTyping ? undefined : 'alert'}>
      {text}
    </p>
  );
}
