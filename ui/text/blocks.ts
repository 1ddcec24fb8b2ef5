/**
 * ui/text owns how text of a model is shown. A model's output is hostile: it becomes elements that are made here, never
 * markup, and nothing in it makes the browser ask for anything. It knows nothing of conversations. This file: text → blocks, again and again as it grows.
 */
import { Marked, type Token } from 'marked';
import { MATH_RULES } from './math/find-math.ts';

/** Longer text is shown as it is: reading it would hold the page up. */
const MOST_CHARS = 200_000;
/** Deeper quotes and lists are shown as they are written; the parser recurses. */
const MOST_NESTED = 40;

interface Settled {
  text: string;
  blocks: Token[];
}

/** Reads the text of one growing answer; what can no longer change is read once. */
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

/** The blocks of a text, or null when it cannot be read. */
export function blocksOf(text: string): Token[] | null {
  if (nesting(text) > MOST_NESTED) return null;
  try {
    // Links need no other part of the document: what a reference would lead to is left as it is written.
    return reader.lexer(text);
  } catch {
    return null;
  }
}

/** The last two blocks may still grow; those before them end where their texts end. */
function settle(settled: Settled, rest: readonly Token[], text: string): void {
  const done = rest.slice(0, -2);
  const length = done.reduce((sum, { raw }) => sum + raw.length, 0);
  const end = settled.text.length + length;
  // The parser turns some line ends and tabs into others; then nothing is settled.
  if (done.map(({ raw }) => raw).join('') !== text.slice(settled.text.length, end)) return;
  settled.text = text.slice(0, end);
  settled.blocks.push(...done);
}

/** How deep quotes and lists could go at most, from the marks that begin the lines. */
function nesting(text: string): number {
  let most = 0;
  for (const [marks] of text.matchAll(/^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)]))+|[*_[\]!]{20,}/gm))
    most = Math.max(most, marks.replaceAll(/[ \t\d]/g, '').length);
  return most;
}
