import {
  callLead,
  type ToolFormat,
  type Words,
} from '../../../../packages/chat-templates/src/tool-format/tool-format.ts';

export interface CallOpening {
  readonly mark: string;
  readonly lead: Words;
}

export function callOpenings(format: ToolFormat): CallOpening[] {
  const lead = wordsAfter(format, format.trigger);
  const openings = [{ mark: format.trigger, lead }];
  // A call that begins with its name may give its type first, as in Llama 3's training data.
  if (format.atStart && format.trigger === '{"name":')
    openings.push({ mark: '{"type":', lead: [' "function", "name":', ...lead] });
  const { announcement } = format;
  if (announcement === undefined) return openings;
  return [...openings, ...openings.map((opening) => ({ ...opening, mark: announcement + opening.mark }))];
}

function wordsAfter(format: ToolFormat, mark: string): Words {
  const [first, ...others] = format.call.before;
  const rest = typeof first === 'string' ? others : format.call.before;
  const lead = callLead(format);
  let at = 0;
  for (const char of mark.replaceAll(/\s+/g, '')) {
    while (/\s/.test(lead[at] ?? '')) at += 1;
    if (lead[at] === char) at += 1;
  }
  const behind = lead.slice(at);
  return behind === '' ? rest : [behind, ...rest];
}
