/**
 * Checks chat templates before any parser. A template is a third party's program. The worker bounds its rendering;
 * this check refuses templates that could only do harm: too large, too deep, unconditionally recursive, endlessly
 * counting, or reaching for interpreter internals.
 */
import { RANGE_DEFECT, rangeLength, TEMPLATE_LIMITS } from '../../../chat-templates/src/form/limits.ts';
import { blockStep, nestingDefect, sizeDefect } from '../../../chat-templates/src/form/template-form.ts';
import { scanTags, type TemplateTag } from '../../../chat-templates/src/form/template-scan.ts';
import type { Lookup } from '../format/lookup.ts';

const TEMPLATE_KEY = /^tokenizer\.chat_template(\.|$)/;
const INSIDES = /__\w+__|\bconstructor\b|\bprototype\b/;

/** Checks all templates, named ones included, and returns the default one. */
export function readChatTemplate(lookup: Lookup): string | undefined {
  for (const key of lookup.keys()) {
    if (!TEMPLATE_KEY.test(key)) continue;
    const entry = lookup.entry(key);
    const tooLarge = entry?.type === 'string' ? sizeDefect(entry.bytes) : undefined;
    const defect = tooLarge ?? templateDefect(lookup.text(key) ?? '');
    if (defect) lookup.refuse(`${key} ${defect}`);
  }
  return lookup.text('tokenizer.chat_template');
}

/** Defect as the end of a sentence, or undefined. */
export function templateDefect(source: string): string | undefined {
  const tags = scanTags(source);
  const nested = nestingDefect(tags);
  if (nested !== undefined) return nested;
  if (tags.some((tag) => INSIDES.test(tag.code))) return 'reaches for the insides of its interpreter';
  if (tags.some(hasHugeRange)) return RANGE_DEFECT;
  const macro = endlessMacro(tags);
  return macro === undefined ? undefined : `has a macro "${macro}" that always calls itself`;
}

const RANGE_CALL = /\brange\s*\(([^()]*)/g;
const NUMBER = /-?\b\d[\d_]*(?:e\d+)?/gi;

function hasHugeRange({ code }: TemplateTag): boolean {
  return [...code.matchAll(RANGE_CALL)].some(
    ([, args = '']) => args.includes('**') || countedAtLeast(args) > TEMPLATE_LIMITS.range,
  );
}

function countedAtLeast(args: string): number {
  const literals = (args.match(NUMBER) ?? []).map((text) => Number(text.replaceAll('_', '')));
  const isKnown = args.replaceAll(NUMBER, '').replaceAll(/[\s,]/g, '') === '';
  const [first, ...others] = literals;
  return isKnown && first !== undefined ? rangeLength(first, ...others) : Math.max(0, ...literals);
}

/**
 * A macro that calls itself outside any condition or loop never ends. Recursion inside an `if` is common in good
 * templates, which describe nested JSON types with it.
 */
function endlessMacro(tags: readonly TemplateTag[]): string | undefined {
  let macro = '';
  let depth = 0;
  for (const { word, code } of tags) {
    if (word === 'macro') {
      macro = /\bmacro\s+(\w+)/.exec(code)?.[1] ?? '';
      depth = 0;
    } else if (word === 'endmacro') {
      macro = '';
    } else {
      depth += blockStep(word);
      const isConditional = depth > 0 || /\bif\b/.test(code);
      if (macro !== '' && !isConditional && new RegExp(`\\b${macro}\\s*\\(`).test(code)) return macro;
    }
  }
  return undefined;
}
