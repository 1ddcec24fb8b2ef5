/** Chat templates in the manner of several model families, written for the tests; none is copied from a model. */
import { readFileSync } from 'node:fs';

export type TemplateName =
  | FormatTemplate
  | 'thinking'
  | 'always-thinking'
  | 'gemma'
  /** Prints the last message only: for tests of many prompts that need no reading. */
  | 'last-message';

/** Those whose tools have a format of their own, one per way of writing a call. */
export const FORMAT_TEMPLATES = [
  'hermes',
  'llama3-json',
  'mistral',
  'phi4',
  'tagged',
  'arg-keys',
  'sections',
  'typed',
  'nine-ids',
  'pythonic',
  'quoted',
  'nested',
  'wrapped',
  'harmony',
  'recipients',
  /** Tells how a call is written, but writes none itself. */
  'told',
] as const;
export type FormatTemplate = (typeof FORMAT_TEMPLATES)[number];

export function template(name: TemplateName): string {
  return readFileSync(new URL(`./templates/${name}.jinja`, import.meta.url), 'utf8');
}
