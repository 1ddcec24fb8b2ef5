/**
 * ui/text owns how text of a model is shown. A model's output is hostile: elements are made here, never from markup,
 * and nothing in it makes the browser send a request. It knows nothing of conversations. This file: text → blocks,
 * repeatedly as it grows.
 */
import { Marked, type Token } from 'marked';
import { MATH_RULES } from './math/find-math.ts';

/** Longer text is shown unparsed, because parsing it would block the page. */
const MOST_CHARS = 200_000;
/** Deeper quotes and lists are shown unparsed, because the parser recurses. */
const MOST_NESTED = 40;

interface Settled {
  text: string;
  blocks: Token[];
}

export function blockReader(): (text: string) => readonly Token[] | null {
  let settled: Settled = { text: '', blocks: [] };
  return (text) => {
    if (text.length > MOST_CHARS) return null;
    if (!text.startsWith(settled.text)) settled = { text: '', blocks: [] };
    const rest = blocksOf(text.slice(settled.text.length));
    if (rest === null) return null;
    const all = [...settled.blocks, ...rest];
    settle(settled, rest, text);
    return all;
  };
}

const reader = new Marked({ gfm: true, extensions: MATH_RULES });

export function blocksOf(text: string): Token[] | null {
  if (nesting(text) > MOST_NESTED) return null;
  try {
    // Link references of earlier blocks are not needed: they are shown as written.
    return reader.lexer(text);
  } catch {
    return null;
  }
}

/** The last two blocks may still grow; earlier ones end with their text. */
function settle(settled: Settled, rest: readonly Token[], text: string): void {
  const done = rest.slice(0, -2);
  const length = done.reduce((sum, { raw }) => sum + raw.length, 0);
  const end = settled.text.length + length;
  // The parser changes some line ends and tabs; nothing is settled then.
  if (done.map(({ raw }) => raw).join('') !== text.slice(settled.text.length, end)) return;
  settled.text = text.slice(0, end);
  settled.blocks.push(...done);
}

function nesting(text: string): number {
  let most = 0;
  for (const [marks] of text.matchAll(/^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)]))+|[*_[\]!]{20,}/gm))
    most = Math.max(most, marks.replaceAll(/[ \t\d]/g, '').length);
  return most;
}
