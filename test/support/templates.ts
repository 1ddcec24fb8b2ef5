/** Chat templates in the manner of several model families, written for the tests; none is copied from a model. */
import { readFileSync } from 'node:fs';

export type TemplateName =
  | 'hermes'
  | 'llama3-json'
  | 'mistral'
  | 'phi4'
  | 'thinking'
  | 'always-thinking'
  | 'gemma'
  /** Prints the last message only: for tests of many prompts that need no reading. */
  | 'last-message';

export function template(name: TemplateName): string {
  return readFileSync(new URL(`./templates/${name}.jinja`, import.meta.url), 'utf8');
}
