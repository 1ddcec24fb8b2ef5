/** The frame's document: it has its own origin, and its policy blocks every request. */
const ADDRESS = 'preview.html';
const MOST_CHARS = 1_000_000;

export const canPreview = (language: string, text: string): boolean =>
  text.length <= MOST_CHARS &&
  (['html', 'svg'].includes(language) || (language === 'xml' && text.includes('<svg')));

/** Without scripts and without any request to other addresses. */
export function HtmlPreview({ text }: { text: string }) {
  return (
    <>
      <iframe
        class="preview"
        title="Preview"
        sandbox="allow-scripts"
        src={ADDRESS}
        onLoad={({ currentTarget }) => currentTarget.contentWindow?.postMessage(text, '*')}
      />
      <p class="hint">Scripts do not run here, and nothing is fetched.</p>
    </>
  );
}
