/** Real chat templates render as transformers renders them, or are refused for the same reason. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isSvcError, errorReason } from '../../src/lib/errors/svc-error.ts';
import { type ChatTemplate, openTemplate } from '../../src/worker/prompt/template.ts';
import { CORPUS_FOLDER, conversations, digest, readJson, templates, variablesOf } from './corpus.ts';

type Expected = Readonly<Record<string, Readonly<Record<string, string>>>>;

const expected = readJson<Expected>('conversations.expected.json');

/** What Hearth renders and Python does not, by what Python says. Each must occur. */
const RENDERED_HERE: readonly { readonly refusal: RegExp; readonly why: string }[] = [
  { refusal: /^!SecurityError: access to attribute 'append' of 'list'/, why: 'a list of its own may grow' },
  { refusal: /^!TypeError: Object of type generator is not JSON/, why: 'what a filter gives is a list' },
];

/** A refusal of the template itself reads the same everywhere; one of Python is said in other words. */
const isOwnRefusal = (text: string): boolean => text.startsWith('!') && !/^!\w+Error: /.test(text);

function rendering(template: ChatTemplate, variables: Record<string, unknown>): string {
  try {
    return digest(template.render(variables).string);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return `!${errorReason(error)}`;
  }
}

describe('real chat templates', () => {
  it('are all there', () => {
    expect(templates.length).toBeGreaterThanOrEqual(CORPUS_FOLDER === null ? 27 : 70);
    expect(Object.keys(expected)).toHaveLength(70);
  });

  it.each(templates)('$name renders as the reference does', ({ name, source }) => {
    const template = openTemplate(source);
    for (const conversation of conversations) {
      const reference = expected[name]?.[conversation.name];
      const ours = rendering(template, variablesOf(conversation));
      const place = `${name}, ${conversation.name}`;
      if (reference === undefined) expect.fail(`${place} has no reference`);
      if (!reference.startsWith('!') || isOwnRefusal(reference))
        expect(ours, place).toBe(reference.slice(0, 301));
      else if (RENDERED_HERE.some(({ refusal }) => refusal.test(reference)))
        expect(ours, place).not.toMatch(/^!/);
      else expect(ours, place).toMatch(/^!/);
    }
  });

  it('come to what README.md says', () => {
    const made = Object.values(expected).flatMap((each) => Object.values(each));
    const here = made.filter((text) => RENDERED_HERE.some(({ refusal }) => refusal.test(text))).length;
    const refused = made.filter((text) => text.startsWith('!')).length - here;
    const row = [`all (${conversations.length})`, made.length - refused - here, refused, here].map((cell) =>
      cell.toLocaleString('en'),
    );
    const table = readFileSync(new URL('README.md', import.meta.url), 'utf8').replaceAll(/ +/g, ' ');
    expect(table).toContain(`| ${row.join(' | ')} |`);
  });

  it('lists no reason to differ that does not occur', () => {
    const refusals = Object.values(expected).flatMap((made) => Object.values(made));
    for (const { refusal, why } of RENDERED_HERE) {
      expect(
        refusals.some((text) => refusal.test(text)),
        why,
      ).toBe(true);
    }
  });
});
