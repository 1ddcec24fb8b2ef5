import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { OwnWords } from '../src/jinja/values/convert.ts';
import { openTemplate } from '../src/template.ts';
import { TemplateError } from '../src/template-error.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

it('the README has an example that does what it says', () => {
  const [, source = ''] = /const source = '(.+)';/.exec(readme) ?? [];
  const text = openTemplate(source).render({ messages: [{ role: 'user', content: 'Hi <|end|>' }] });
  expect(readme).toContain(`text.string; // ${text.string}\n`);
  expect(readme).toContain(`text.clientRuns; // ${JSON.stringify(text.clientRuns).replaceAll(',', ', ')}:`);
});

it('words of the program are no words of a client', () => {
  const text = openTemplate('{{ a | upper }}{{ b }}').render({ a: new OwnWords('own'), b: 'client' });
  expect([text.string, text.clientRuns]).toEqual(['OWNclient', [3, 9]]);
});

it('a refusal of the template is a TemplateError in one line', () => {
  const template = openTemplate("{{ raise_exception('roles must alternate\\nreally') }}");
  expect(() => template.render({})).toThrow(new TemplateError('roles must alternate'));
});
