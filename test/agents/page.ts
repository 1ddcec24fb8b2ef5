/** What docs/agents.md tells to do for an agent. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = readFileSync(fileURLToPath(new URL('../../docs/agents.md', import.meta.url)), 'utf8');

/** The first block of code in the section, for that service and model. */
export function toldIn(
  heading: string,
  { url, model }: { readonly url: string; readonly model: string },
): string {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [, block] = /```\w+\n([\s\S]*?)\n```/.exec(section.split('\n## ')[0] ?? '') ?? [];
  if (block === undefined) throw new Error(`docs/agents.md has no block of code about ${heading}`);
  return block.replaceAll('http://127.0.0.1:8740', url).replaceAll('my-model', model);
}
