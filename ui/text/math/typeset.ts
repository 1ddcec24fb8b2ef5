/**
 * ui/text/math owns formulas in texts. It does not know what is around them. This file: TeX → MathML, which browsers
 * draw with their own fonts. KaTeX makes a tree, and elements are made of it here.
 */
// @ts-expect-error -- it declares no types for the tree
import { __renderToDomTree as treeOf } from 'katex';
import { type ComponentChild, h } from 'preact';

interface Node {
  readonly type?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly children?: readonly Node[];
  readonly text?: string;
  readonly character?: string;
  readonly width?: number;
}

/** Any other attribute of KaTeX is a style or an address. */
const ATTRIBUTES = new Set(
  'accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form height largeop linethickness lspace mathcolor mathbackground mathsize mathvariant maxsize minsize movablelimits notation rowalign rowlines rowspacing rspace scriptlevel separator stretchy symmetric voffset width xmlns'.split(
    ' ',
  ),
);
/** Chosen: no real formula expands more macros. */
const MOST_EXPANSIONS = 300;

export function typeset(text: string, isDisplayed: boolean): ComponentChild {
  try {
    const tree = treeOf(text, {
      output: 'mathml',
      displayMode: isDisplayed,
      throwOnError: true,
      trust: false,
      strict: 'ignore',
      maxExpand: MOST_EXPANSIONS,
      maxSize: 20,
    }) as Node;
    return elementOf(tree);
  } catch {
    return null;
  }
}

function elementOf(node: Node): ComponentChild {
  const { type, children = [], attributes = {} } = node;
  if (type === undefined) return node.text ?? children.map(elementOf);
  // The source, for programs that read MathML; a screen reader would read it a second time.
  if (type === 'annotation') return null;
  const kept = Object.entries(attributes).filter(([name]) => ATTRIBUTES.has(name) && name !== 'xmlns');
  return h(type as 'math', Object.fromEntries(kept), ...children.map(elementOf));
}
