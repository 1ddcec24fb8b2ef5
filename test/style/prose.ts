/**
 * Constructions that make a reader decode a sentence: how often they occur per 1,000 words. docs/style.md explains them,
 * style.test.ts holds each kind of text to a limit. A crude measure: it shows a drift, and an editor decides.
 */

/** True where a sentence has the construction. */
type Construction = (sentence: string) => boolean;

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

export const CONSTRUCTIONS: Readonly<Record<string, Construction>> = {
  'longer than 35 words': (sentence) => wordsOf(sentence) > 35,
  'a chain of clauses': (sentence) =>
    count(sentence, /\b(?:which|whose|who|that|where|so that|because|although|while|unless)\b/gi) > 3,
  'more than one colon, or three stops': (sentence) =>
    count(sentence, /:(?=\s)/g) > 1 || count(sentence, /[:;](?=\s)/g) > 2,
  'a clause in place of a noun': (sentence) =>
    /^(?:What|Whatever|Whoever|Whichever)\b[^?]*$|\b(?:what|whatever|whoever) (?:is|are|was|were|has|had|it|they|he|a|the)\b/.test(
      sentence,
    ),
  'the subject after the verb': (sentence) =>
    /^(?:Of|Behind|Beside|Nor|Neither|None|Only then|Beyond that|To these|By these) [^,.]+,? [a-z]/.test(
      sentence,
    ),
  'a definition by what it is not': (sentence) =>
    /(?<!\b[Tt]here )\b(?:is|are|was|were) (?:no|none|nothing) |\b(?:none but|nothing but|nobody)\b/.test(
      sentence,
    ),
};

/** Without code, headings, links' targets and the marks of Markdown; a row of a table is a block for each cell. */
const blocksOf = (markdown: string): readonly string[] =>
  markdown
    .replaceAll(/```[\s\S]*?```|<!--[\s\S]*?-->/g, '\n\n')
    .replaceAll(/`[^`\n]*`/g, 'CODE')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^#+ .*$|^\|[-| :]+\|$/gm, '\n')
    .replaceAll(/^\s*(?:[-*]|\d+\.) /gm, '\n\n')
    .split(/\n\s*\n|^\|/m)
    .flatMap((block) => block.split(/\s\|\s|\|\n|\|$/))
    .map((block) => block.replaceAll(/[*_]{1,2}|\s+/g, (mark) => (/\s/.test(mark) ? ' ' : '')).trim())
    .filter((block) => block !== '');

export const sentencesOf = (markdown: string): readonly string[] =>
  blocksOf(markdown).flatMap((block) => block.split(/(?<=[.!?])\s+(?=[A-Z"(])/));

/** Words with a letter; marks and numbers are none. */
export const wordsOf = (text: string): number => count(text, /[A-Za-z][\w'-]*/g);

/** The texts that a source shows to users: its literals of at least four words, with a word in place of each value. */
export const literalsOf = (source: string): readonly string[] =>
  [...source.matchAll(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g)]
    .map(([literal]) =>
      literal
        .slice(1, -1)
        .replaceAll(/\$\{[^}]*\}/g, 'NAME')
        .replaceAll(/\\(.)/g, '$1'),
    )
    .filter((text) => wordsOf(text) > 3 && /[a-z]+ [a-z]+ [a-z]+/.test(text));

interface Measured {
  readonly words: number;
  /** By construction, the sentences that have it. */
  readonly found: Readonly<Record<string, readonly string[]>>;
  /** All constructions, per 1,000 words. */
  readonly rate: number;
}

export function measure(sentences: readonly string[]): Measured {
  const words = sentences.reduce((sum, sentence) => sum + wordsOf(sentence), 0);
  const found = Object.fromEntries(
    Object.entries(CONSTRUCTIONS).map(([name, has]) => [name, sentences.filter(has)]),
  );
  const total = Object.values(found).reduce((sum, list) => sum + list.length, 0);
  return { words, found, rate: words === 0 ? 0 : (total * 1000) / words };
}
