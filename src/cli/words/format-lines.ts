import type { ModelFormatFacts } from '../../contract/job-event.ts';

/** For models without a syntax of their own. */
export const ENVELOPE = 'svc-tool-envelope';

export function formatLines({ format, evidence }: ModelFormatFacts): (readonly [string, string])[] {
  const { tools, thinking, content, history } = format;
  const lines: (readonly [string, string])[] = [];
  if (tools !== null) {
    lines.push(['calls', tools.several ? 'several in one answer' : 'one per answer']);
    lines.push([
      'past calls',
      history.calls === 'template' ? 'written by the template' : 'written into the content by Hearth',
    ]);
  }
  lines.push(['thinking', thinking === null ? 'none' : between(thinking)]);
  if (content !== null) lines.push(['answers', between(content)]);
  for (const { about, says, probe } of evidence)
    lines.push(['detected', `${about}: ${says}${probe === null ? '' : ` (rendered: ${probe})`}`]);
  return lines;
}

function between({ open, close }: { readonly open: string; readonly close: string }): string {
  return `${JSON.stringify(open)} to ${JSON.stringify(close)}`;
}
