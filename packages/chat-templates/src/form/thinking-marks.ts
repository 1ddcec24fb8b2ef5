/**
 * chat-templates/form owns what can be told from the text of a chat template without rendering it: size, nesting, marks of
 * thinking. It knows nothing of rendering or of jobs.
 * This file: which marks a model puts around its reasoning.
 */

export interface ThinkingMarks {
  readonly open: string;
  readonly close: string;
}

const MARKS: readonly ThinkingMarks[] = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '<reasoning>', close: '</reasoning>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  { open: '<seed:think>', close: '</seed:think>' },
];

/** The marks that the template writes or reads, else those among the control tokens, else null. */
export function thinkingMarks(template: string, controlTexts: readonly string[]): ThinkingMarks | null {
  const inTemplate = MARKS.find(({ close }) => template.includes(close));
  if (inTemplate !== undefined) return inTemplate;
  return MARKS.find(({ open, close }) => controlTexts.includes(open) && controlTexts.includes(close)) ?? null;
}
