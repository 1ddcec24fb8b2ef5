/**
 * A look at the chat templates before anything parses them. A template is a program from
 * the model's author; the worker runs it under a time limit, and this turns away those
 * that could only be meant to harm: they are too large, too deep, call themselves without
 * condition, count without end, or reach for the interpreter's insides.
 */
import { LIMITS } from '../format/limits.ts';
import type { Lookup } from '../format/lookup.ts';
import { scanTags, type TemplateTag } from './template-scan.ts';

const TEMPLATE_KEY = /^tokenizer\.chat_template(\.|$)/;
const BLOCKS = new Set(['if', 'for', 'macro', 'call', 'filter', 'generation', 'raw']);
const INSIDES = /__\w+__|\bconstructor\b|\bprototype\b/;

/** Checks all templates, also named ones, and returns the default one. */
export function readChatTemplate(lookup: Lookup): string | undefined {
  for (const key of lookup.keys()) {
    if (!TEMPLATE_KEY.test(key)) continue;
    const entry = lookup.entry(key);
    if (entry?.type === 'string' && entry.bytes > LIMITS.templateBytes) {
      lookup.refuse(`${key} is ${entry.bytes} bytes long; the limit is ${LIMITS.templateBytes}`);
    }
    const defect = templateDefect(lookup.text(key) ?? '');
    if (defect) lookup.refuse(`${key} ${defect}`);
  }
  return lookup.text('tokenizer.chat_template');
}

/** Why the template is refused, as the end of a sentence, or undefined. */
export function templateDefect(source: string): string | undefined {
  const tags = scanTags(source);
  if (deepestBlock(tags) > LIMITS.templateNesting || tags.some(hasDeepBrackets)) {
    return `is nested more than ${LIMITS.templateNesting} levels deep`;
  }
  if (tags.some((tag) => INSIDES.test(tag.code))) return 'reaches for the insides of its interpreter';
  if (tags.some(hasHugeRange)) return `counts beyond ${LIMITS.templateRange}`;
  const macro = endlessMacro(tags);
  return macro === undefined ? undefined : `has a macro "${macro}" that always calls itself`;
}

function hasDeepBrackets({ code }: TemplateTag): boolean {
  let depth = 0;
  for (const letter of code) {
    if (letter === '(' || letter === '[' || letter === '{') depth += 1;
    else if (letter === ')' || letter === ']' || letter === '}') depth -= 1;
    if (depth > LIMITS.templateNesting) return true;
  }
  return false;
}

function deepestBlock(tags: readonly TemplateTag[]): number {
  let depth = 0;
  let deepest = 0;
  for (const { word } of tags) {
    depth += blockStep(word);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function blockStep(word: string): number {
  if (BLOCKS.has(word)) return 1;
  return word.startsWith('end') && BLOCKS.has(word.slice(3)) ? -1 : 0;
}

function hasHugeRange({ code }: TemplateTag): boolean {
  return [...code.matchAll(/\brange\s*\(([^()]*)/g)].some(([, args = '']) => {
    const numbers = args.match(/\b\d[\d_]*(?:e\d+)?/gi) ?? [];
    return (
      args.includes('**') || numbers.some((text) => Number(text.replaceAll('_', '')) > LIMITS.templateRange)
    );
  });
}

/**
 * A macro that calls itself outside any condition or loop can never end. Recursion inside
 * an `if` is common in good templates, which describe nested JSON types with it.
 */
function endlessMacro(tags: readonly TemplateTag[]): string | undefined {
  let macro = '';
  let depth = 0;
  for (const { word, code } of tags) {
    if (word === 'macro') {
      macro = /\bmacro\s+(\w+)/.exec(code)?.[1] ?? '';
      depth = 0;
    } else if (word === 'endmacro') macro = '';
    else {
      depth += blockStep(word);
      const isConditional = depth > 0 || /\bif\b/.test(code);
      if (macro !== '' && !isConditional && new RegExp(`\\b${macro}\\s*\\(`).test(code)) return macro;
    }
  }
  return undefined;
}
