/** Formats that have names: those of the table of exceptions, which a user may choose for a model. */
export const FORMAT_NAMES = [
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
export type FormatChoice = 'auto' | 'envelope' | FormatName;
