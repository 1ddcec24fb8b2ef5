import { CopyButton } from '../parts/copy-button.tsx';

/** Code with its language and a button to copy it; nothing in it is run or coloured by what it says. */
export function CodeBlock({ text, language }: { text: string; language: string }) {
  const name = /^[\w+#.-]{1,24}/.exec(language)?.[0] ?? 'text';
  return (
    <figure class="code">
      <figcaption>
        <span>{name}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0} aria-label={`Code, ${name}`}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
