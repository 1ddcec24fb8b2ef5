/** Named formats of the table of exceptions, which a user may choose for a model. */
const FORMAT_NAMES = [
  'harmony',
  'atem',
  'functionary',
  'lfm',
  'granite',
  'phi',
  'command-r',
  'firefunction',
  'smollm',
  'hermes',
] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

/** `auto`: as the template shows; `envelope`: svc-tool-envelope. */
export const FORMAT_CHOICES = ['auto', 'envelope', ...FORMAT_NAMES] as const;
export type FormatChoice = (typeof FORMAT_CHOICES)[number];

export const FORMAT_TEXT_BYTES = 64 * 1024;

export const isFormatText = (text: string): boolean => text.trimStart().startsWith('{');

export function isFormatChoice(text: string): text is FormatChoice {
  return FORMAT_CHOICES.some((choice) => choice === text);
}
