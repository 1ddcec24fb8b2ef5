import { plainVocabulary as vocabulary } from '../../../../test/support/engine/plain-vocabulary.ts';
import { describe, expect, it } from 'vitest';
import type { Turn } from '../../../contract/job.ts';
import { isSvcError, errorReason } from '../../../lib/errors/svc-error.ts';
import {
  KNOWN_TEMPLATE_NAMES,
  knownTemplate,
} from '../../../../packages/chat-templates/src/form/known-templates.ts';
import { foldPrompt, pieceText, renderPrompt } from '../prompt.ts';
import { openTemplate } from '../template.ts';
import { promptWriter } from '../writer.ts';

const EACH = '{% for m in messages %}';
const WRITTEN =
  '[{{ m.role }}:{{ m.content }}{% for c in m.tool_calls or [] %}({% for v in c.function.arguments.values() %}{{ v }}{% endfor %}){% endfor %}]{% endfor %}';
const raise = (condition: string, reason: string): string =>
  `{% if ${condition} %}{{ raise_exception('${reason}') }}{% endif %}`;
const FIRST_ONLY = raise("m.role == 'system' and not loop.first", 'system first');
const NO_SYSTEM = raise("m.role == 'system'", 'no system');
const ALTERNATE = raise('not loop.first and m.role == messages[loop.index0 - 1].role', 'alternate');
const ONE_CALL = raise('m.tool_calls and m.tool_calls | length > 1', 'single tool-calls');

const system = (content: string): Turn => ({ role: 'system', content });
const user = (content: string): Turn => ({ role: 'user', content });
const said = (content: string): Turn => ({ role: 'assistant', content });
const calls = (...args: string[]): Turn => ({
  role: 'assistant',
  content: '',
  toolCalls: args.map((each) => ({ id: `id-${each}`, name: 'f', argumentsJson: `{"a":"${each}"}` })),
});
const result = (of: string): Turn => ({ role: 'tool', content: `R${of}`, toolCallId: `id-${of}`, name: 'f' });

function put(checks: string, turns: readonly Turn[]): [text: string, folds: readonly string[]] {
  const writer = promptWriter(openTemplate(EACH + checks + WRITTEN), vocabulary);
  const prompt = { turns, tools: [], variables: {}, prefill: [], clockMs: null };
  return [pieceText(renderPrompt(writer, prompt)), foldPrompt(writer, prompt).folds];
}

describe('a conversation that the template refuses', () => {
  it.each<[string, string, Turn[], string, string[]]>([
    ['nothing', FIRST_ONLY, [system('S'), user('A')], '[system:S][user:A]', []],
    [
      'two system turns at the beginning',
      FIRST_ONLY,
      [system('S'), system('T'), user('A')],
      '[system:S\n\nT][user:A]',
      ['system=merged'],
    ],
    [
      'a late system turn',
      FIRST_ONLY,
      [system('S'), user('A'), said('B'), system('N'), user('C')],
      '[system:S][user:A][assistant:B][user:N\n\nC]',
      ['system=moved'],
    ],
    [
      'a late system turn at the end',
      FIRST_ONLY,
      [system('S'), user('A'), said('B'), system('N')],
      '[system:S][user:A][assistant:B][user:N]',
      ['system=moved'],
    ],
    ['system turns at all', NO_SYSTEM, [system('S'), user('A')], '[user:S\n\nA]', ['system=user']],
    ['system turns at all, and there is nothing else', NO_SYSTEM, [system('S')], '[user:S]', ['system=user']],
    [
      'two turns of one role',
      ALTERNATE,
      [user('A'), user('B'), said('C'), said('D'), user('E')],
      '[user:A\n\nB][assistant:C\n\nD][user:E]',
      ['turns=merged'],
    ],
    [
      'two calls in one turn',
      ONE_CALL,
      [user('A'), calls('1', '2'), result('1'), result('2')],
      '[user:A][assistant:(1)][tool:R1][assistant:(2)][tool:R2]',
      ['calls=split'],
    ],
    [
      'words of the user behind a result',
      raise("m.role == 'user' and not loop.first and messages[loop.index0 - 1].role == 'tool'", 'no'),
      [user('A'), calls('1'), result('1'), user('B')],
      '[user:A][assistant:(1)][tool:R1\n\nB]',
      ['user=result'],
    ],
    [
      'a beginning without the user',
      raise("loop.first and m.role != 'user'", 'user first'),
      [said('A'), user('B')],
      '[user:][assistant:A][user:B]',
      ['user=added'],
    ],
    [
      'empty turns',
      raise("m.role == 'assistant' and not m.content", 'empty'),
      [user('A'), said(''), user('B')],
      '[user:A][user:B]',
      ['empty=dropped'],
    ],
    [
      'turns of white space',
      NO_SYSTEM,
      [system(' '), user('A'), said(' '), user('B')],
      '[user:A][user:B]',
      ['empty=dropped'],
    ],
    [
      'results of tools',
      raise("m.role == 'tool'", 'no tools'),
      [user('A'), calls('1'), result('1'), said('B')],
      '[user:A][assistant:(1)][user:R1][assistant:B]',
      ['result=user'],
    ],
    [
      'several of these',
      FIRST_ONLY + ALTERNATE + ONE_CALL,
      [
        system('S'),
        system('T'),
        user('A'),
        user('B'),
        calls('1', '2'),
        result('1'),
        result('2'),
        system('N'),
      ],
      '[system:S\n\nT][user:A\n\nB][assistant:(1)][tool:R1][assistant:(2)][tool:R2][user:N]',
      ['system=merged', 'calls=split', 'system=moved', 'turns=merged'],
    ],
  ])('is told in another way: %s', (_, checks, turns, text, folds) => {
    expect(put(checks, turns)).toEqual([text, folds]);
  });

  it('keeps what was rendered before, so that its state is reused', () => {
    const turns = [system('S'), user('A'), said('B'), user('C'), said('D')];
    const [before] = put(FIRST_ONLY + ALTERNATE, turns);
    for (const late of [
      [system('N'), user('E')],
      [user('E'), user('F')],
      [user('E'), calls('1'), result('1'), system('N')],
    ])
      expect(put(FIRST_ONLY + ALTERNATE, [...turns, ...late])[0].startsWith(before)).toBe(true);
  });

  it('is refused for the reason that the template gives, if no fold helps', () => {
    try {
      put(raise('true', 'never'), [user('A'), user('B')]);
      expect.unreachable();
    } catch (error) {
      expect(isSvcError(error) && errorReason(error)).toBe('never');
    }
  });
});

describe('a template that writes a turn as if the model had said it', () => {
  /** As Mistral's and Llama 2's: who is not the user is the model. */
  const TWO_ROLES =
    "{% for m in messages %}{% if m.role == 'user' %}[U {{ m.content }}]{% else %}[A {{ m.content }}]{% endif %}{% endfor %}";
  const putTo = (source: string, turns: readonly Turn[]): [string, readonly string[]] => {
    const writer = promptWriter(openTemplate(source), vocabulary);
    const prompt = { turns, tools: [], variables: {}, prefill: [], clockMs: null };
    return [pieceText(renderPrompt(writer, prompt)), foldPrompt(writer, prompt).folds];
  };

  it('gets a late system turn as words of the user', () => {
    expect(putTo(TWO_ROLES, [user('A'), said('B'), system('N'), user('C')])).toEqual([
      '[U A][A B][U N\n\nC]',
      ['system=moved'],
    ]);
  });

  it('gets the result of a tool as words of the user', () => {
    const [text, folds] = putTo(TWO_ROLES, [user('A'), said('B'), result('1'), said('C')]);
    expect([text, folds]).toEqual(['[U A][A B][U R1][A C]', ['result=user']]);
  });

  it('is left alone where it writes no roles at all', () => {
    const source = '{% for m in messages %}{{ m.content }}|{% endfor %}';
    expect(putTo(source, [user('A'), said('B'), system('N'), user('C')])).toEqual(['A|B|N|C|', []]);
  });

  it.each(KNOWN_TEMPLATE_NAMES)('among those of Hearth there is none, once it is folded: %s', (name) => {
    const { source = '' } = knownTemplate(name) ?? {};
    const turns = [system('S'), user('A'), said('B'), system('N'), user('C'), said('D'), system('O')];
    const asModel = turns.map(
      (turn, at): Turn => (at > 0 && turn.role === 'system' ? said(String(turn.content)) : turn),
    );
    const [text, folds] = putTo(source, turns);
    expect(text).not.toBe(putTo(source, asModel)[0]);
    for (const word of ['S', 'A', 'B', 'N', 'C', 'D', 'O']) expect(text).toContain(word);
    if (['mistral', 'llama-2'].includes(name)) expect(folds).toContain('system=moved');
  });
});

describe('a template that leaves a turn out', () => {
  const DROPS_SECOND = "{% if m.role != 'system' or loop.first %}";
  const dropping = (turns: readonly Turn[], source: string): [string, readonly string[]] => {
    const writer = promptWriter(openTemplate(source), vocabulary);
    const prompt = { turns, tools: [], variables: {}, prefill: [], clockMs: null };
    return [pieceText(renderPrompt(writer, prompt)), foldPrompt(writer, prompt).folds];
  };

  it('gets it in another place', () => {
    const source = `${EACH}${DROPS_SECOND}[{{ m.role }}:{{ m.content }}]{% endif %}{% endfor %}`;
    expect(dropping([system('S'), user('A'), said('B'), system('N'), user('C')], source)).toEqual([
      '[system:S][user:A][assistant:B][user:N\n\nC]',
      ['system=moved'],
    ]);
  });

  it('is noticed, if no fold helps', () => {
    const source = '{{ messages[-1].content }}';
    expect(dropping([user('A'), said('B'), user('C')], source)).toEqual(['C', ['text=lost']]);
  });
});
