/**
 * chat-templates/form owns facts from the text of a chat template without rendering: size, nesting, thinking marks.
 * It knows nothing of rendering or of jobs. This file: marks around a model's reasoning.
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

/** Marks in the template, otherwise among the control tokens, otherwise null. */
export function thinkingMarks(template: string, controlTexts: readonly string[]): ThinkingMarks | null {
  const inTemplate = MARKS.find(({ close }) => template.includes(close));
  if (inTemplate !== undefined) return inTemplate;
  return MARKS.find(({ open, close }) => controlTexts.includes(open) && controlTexts.includes(close)) ?? null;
}
