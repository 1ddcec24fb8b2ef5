import { TEMPLATE_LIMITS } from './limits.ts';
import { scanTags, type TemplateTag } from './template-scan.ts';

const BLOCKS = new Set(['if', 'for', 'macro', 'call', 'filter', 'generation', 'raw']);

/** Defect as the end of a sentence, or undefined. */
export function formDefect(source: string): string | undefined {
  return sizeDefect(Buffer.byteLength(source)) ?? nestingDefect(scanTags(source));
}

export function sizeDefect(bytes: number): string | undefined {
  const { sourceBytes } = TEMPLATE_LIMITS;
  return bytes > sourceBytes ? `is ${bytes} bytes long; the limit is ${sourceBytes}` : undefined;
}

export function nestingDefect(tags: readonly TemplateTag[]): string | undefined {
  const { nesting } = TEMPLATE_LIMITS;
  const isTooDeep = deepestBlock(tags) > nesting || tags.some(({ code }) => deepestBracket(code) > nesting);
  return isTooDeep ? `is nested more than ${nesting} levels deep` : undefined;
}

/** Change of block depth by a tag. */
export function blockStep(word: string): number {
  if (BLOCKS.has(word)) return 1;
  return word.startsWith('end') && BLOCKS.has(word.slice(3)) ? -1 : 0;
}

function deepestBlock(tags: readonly TemplateTag[]): number {
  return deepest(tags.map(({ word }) => blockStep(word)));
}

function deepestBracket(code: string): number {
  return deepest([...code].map((letter) => Number('([{'.includes(letter)) - Number(')]}'.includes(letter))));
}

function deepest(steps: readonly number[]): number {
  let depth = 0;
  let most = 0;
  for (const step of steps) {
    depth += step;
    most = Math.max(most, depth);
  }
  return most;
}
