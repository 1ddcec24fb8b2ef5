/** What went wrong, read out by screen readers at once; nothing while all is well. */
export function Failure({ text }: { text: string | null | undefined }) {
  if (text === null || text === undefined) return null;
  return (
    <p class="failure" role="alert">
      {text}
    </p>
  );
}
