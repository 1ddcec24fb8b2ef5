/** The document of the frame: it has an origin of its own, and its policy lets nothing be fetched. */
const ADDRESS = 'preview.html';
const MOST_CHARS = 1_000_000;

/** Languages of code that a browser can draw. */
export const canPreview = (language: string, text: string): boolean =>
  text.length <= MOST_CHARS &&
  (['html', 'svg'].includes(language) || (language === 'xml' && text.includes('<svg')));

/** HTML of a model as it would look: without its scripts, and with nothing from anywhere else. */
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
