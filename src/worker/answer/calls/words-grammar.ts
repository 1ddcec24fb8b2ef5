import { gbnfLiteral } from '../../../../packages/schema-grammar/src/gbnf/gbnf-writer.ts';
import type { SlotName, Words } from '../../../../packages/chat-templates/src/tool-format/tool-format.ts';

const SLOT_GBNF: Readonly<Record<Exclude<SlotName, 'name'>, string>> = {
  id: '[A-Za-z0-9_-]{1,40}',
  index: '[0-9]{1,3}',
  key: '[^<>]{1,64}',
};

export function wordsGbnf(words: Words, name = '', key: string | null = null): string {
  const parts = words.flatMap((word) => {
    if (typeof word === 'string') return literals(word);
    if (word.slot === 'name') return [gbnfLiteral(name)];
    return [word.slot === 'key' && key !== null ? gbnfLiteral(key) : SLOT_GBNF[word.slot]];
  });
  return parts.length === 0 ? '""' : parts.join(' ');
}

function literals(text: string): string[] {
  return text
    .split(/(\s+)/)
    .filter((part) => part !== '')
    .map((part, index, parts) =>
      isOptional(part, parts[index - 1]) ? `${gbnfLiteral(part)}?` : gbnfLiteral(part),
    );
}

/** A line break, a space at an edge, or a space after a sign of JSON; the space between two words is required. */
function isOptional(part: string, before: string | undefined): boolean {
  if (part.trim() !== '') return false;
  return part.includes('\n') || before === undefined || /[:,[{(]$/.test(before);
}
