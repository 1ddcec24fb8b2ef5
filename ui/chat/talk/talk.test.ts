import fc from 'fast-check';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';
import { asCode, LANGUAGES } from './as-code.ts';
import {
  alternatives,
  branchAt,
  type Conversation,
  newConversation,
  newestBelow,
  openCalls,
  pathTo,
  withEntry,
} from './conversation.ts';
import type { Entry } from './entry.ts';
import { endOf } from './answer-end.ts';
import { exportFile, importFile, newOf } from './exported.ts';
import { activeSettings, emptySettings, faultOf, requestOf, SAMPLE_TOOL, type Settings } from './settings.ts';

const entry = (id: string, parent: string | null, role: Entry['role'], more: Partial<Entry> = {}): Entry => ({
  id,
  parent,
  role,
  text: id,
  ...more,
});
const call = (id: string) => ({ id, type: 'function' as const, function: { name: 'f', arguments: '{}' } });
const of = (...entries: readonly Entry[]): Conversation => entries.reduce(withEntry, newConversation('m'));

describe('a conversation', () => {
  const tree = of(
    entry('ask', null, 'user'),
    entry('first', 'ask', 'assistant'),
    entry('second', 'ask', 'assistant'),
    entry('more', 'first', 'user'),
    entry('end', 'more', 'assistant'),
  );

  it('keeps every try, and leads from one to the newest that follows it', () => {
    const ids = (entries: readonly Entry[]) => entries.map(({ id }) => id);
    expect(ids(pathTo(tree, 'end'))).toEqual(['ask', 'first', 'more', 'end']);
    expect(ids(alternatives(tree, tree.entries[1] as Entry))).toEqual(['first', 'second']);
    expect([newestBelow(tree, 'first'), newestBelow(tree, 'second')]).toEqual(['end', 'second']);
    expect(tree.title).toBe('ask');
  });

  it('takes the columns of a comparison for no tries of each other, and stays with the answers of a column', () => {
    const compared = of(
      entry('ask', null, 'user'),
      entry('left', 'ask', 'assistant', { model: 'a', tries: '1' }),
      entry('right', 'ask', 'assistant', { model: 'b', tries: '2' }),
      entry('again', 'ask', 'assistant', { model: 'a', tries: '1' }),
      entry('last', 'ask', 'assistant', { model: 'b', tries: '2' }),
    );
    const triesOf = (at: number) => alternatives(compared, compared.entries[at] as Entry).map(({ id }) => id);
    expect([triesOf(1), triesOf(2)]).toEqual([
      ['left', 'again'],
      ['right', 'last'],
    ]);
    expect([newestBelow(compared, 'ask', 'a'), newestBelow(compared, 'ask', 'b')]).toEqual(['again', 'last']);
  });

  it('leaves its settings behind when another is begun, and keeps the models', () => {
    const old = { ...tree, settings: { ...emptySettings(), schema: '{}', tools: [SAMPLE_TOOL] } };
    const fresh = newConversation('default', old);
    expect(fresh.settings).toEqual(emptySettings());
    expect(fresh.lanes.map(({ model }) => model)).toEqual(['m']);
  });

  it('branches with its path and nothing else', () => {
    const { entries, id } = branchAt(tree, { model: 'm', leaf: 'first' });
    expect(entries.map((each) => each.id)).toEqual(['ask', 'first']);
    expect(id).not.toBe(tree.id);
  });

  it('knows the calls that wait for a result', () => {
    const asked = entry('calls', 'ask', 'assistant', { calls: [call('1'), call('2')] });
    const result = entry('result', 'calls', 'tool', { callId: '1' });
    expect(openCalls([asked]).map(({ id }) => id)).toEqual(['1', '2']);
    expect(openCalls([asked, result]).map(({ id }) => id)).toEqual(['2']);
    expect(openCalls([asked, result, entry('said', 'result', 'assistant')])).toEqual([]);
  });
});

describe('the request', () => {
  it('holds what the user asked for and nothing else', () => {
    const path = [entry('Hello', null, 'user')];
    expect(requestOf('m', path, emptySettings())).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    const settings = {
      ...emptySettings(),
      system: 'Be short.',
      numbers: { temperature: '0', seed: '' },
      stop: 'END\n',
      tools: [SAMPLE_TOOL],
      schema: '{"type":"object"}',
    };
    expect(requestOf('m', path, settings)).toMatchObject({
      messages: [{ role: 'system', content: 'Be short.' }, { role: 'user' }],
      temperature: 0,
      stop: ['END'],
      tools: [{ function: { name: 'get_weather' } }],
      response_format: { type: 'json_schema' },
    });
    expect(requestOf('m', path, settings)).not.toHaveProperty('seed');
  });

  it('carries calls and their results', () => {
    const path = [
      entry('calls', null, 'assistant', { text: '', calls: [call('1')] }),
      entry('7', 'calls', 'tool', { callId: '1' }),
    ];
    expect(requestOf('m', path, emptySettings()).messages).toEqual([
      { role: 'assistant', content: null, tool_calls: [call('1')] },
      { role: 'tool', content: '7', tool_call_id: '1' },
    ]);
  });

  it('is not made from what is no JSON', () => {
    expect(faultOf(emptySettings())).toBeNull();
    expect(faultOf({ ...emptySettings(), schema: '[]' })).toContain('The JSON Schema');
    expect(faultOf({ ...emptySettings(), tools: [{ ...SAMPLE_TOOL, parameters: '{' }] })).toContain(
      'get_weather',
    );
  });
});

describe('the settings in use', () => {
  it('are named one by one, and each can be taken back', () => {
    const settings: Settings = {
      ...emptySettings(),
      system: 'Be short.',
      numbers: { temperature: '0.2', seed: '' },
      tools: [SAMPLE_TOOL],
      schema: '{}',
    };
    const active = activeSettings(settings);
    expect(active.map(({ words }) => words)).toEqual([
      'System prompt',
      'JSON Schema',
      '1 tool',
      'Temperature 0.2',
    ]);
    const cleared = active.reduce<Settings>((rest, each) => ({ ...rest, ...each.cleared }), settings);
    expect(activeSettings(cleared)).toEqual([]);
  });
});

describe('the end of an answer', () => {
  const roomy = { isWindowLargest: false, isConversationNew: true };
  const cut = (asked: Entry['asked'], tokens: number, more: Partial<Entry> = {}, facts = roomy) =>
    endOf(
      entry('a', null, 'assistant', {
        finish: 'length',
        text: '{"sure": tr',
        ...(asked === undefined ? {} : { asked }),
        measures: {
          firstMs: 1,
          tokensPerSecond: 1,
          promptTokens: 12,
          answerTokens: tokens,
          draftedTokens: 0,
          window: 64,
        },
        ...more,
      }),
      facts,
    );

  it('says which limit cut it', () => {
    expect(cut({ isJson: false, limit: 16 }, 16).words).toBe('cut at the limit of 16 tokens');
    expect(cut({ isJson: false, limit: 99 }, 52).words).toBe('cut where the context window was full');
    expect(cut(undefined, 30).words).toBe("cut at the model's limit of 30 tokens");
    expect(endOf(entry('a', null, 'assistant', { finish: 'length' }), roomy).words).toBe('cut at a limit');
  });

  it('warns that JSON was cut, and says what helps; not of JSON that is whole', () => {
    expect(cut({ isJson: true, limit: 4 }, 4).warning).toMatch(/not complete JSON.*Raise "Maximum tokens"/);
    expect(cut({ isJson: true, limit: null }, 52).warning).toMatch(/larger context window/);
    const full = (isConversationNew: boolean) =>
      cut({ isJson: true, limit: null }, 52, {}, { isWindowLargest: true, isConversationNew }).warning;
    expect(full(true)).toMatch(/largest.*maxLength.*another model/);
    expect(full(false)).toMatch(/largest.*new conversation/);
    expect(cut({ isJson: true, limit: 4 }, 4, { text: '{"sure": true}' }).warning).toBeNull();
    expect(cut({ isJson: false, limit: 4 }, 4).warning).toBeNull();
    const stopped = cut({ isJson: true, limit: null }, 2, { finish: 'stopped' });
    expect(stopped).toMatchObject({ words: 'stopped by you', warning: expect.stringContaining('Retry') });
  });
});

describe('a tool that must be called', () => {
  const settings: Settings = { ...emptySettings(), tools: [SAMPLE_TOOL], toolChoice: 'required' };
  const asked = entry('ask', null, 'user');

  it('need not be called again once its result is there', () => {
    expect(requestOf('m', [asked], settings).tool_choice).toBe('required');
    const result = entry('result', 'ask', 'tool', { callId: 'c' });
    expect(requestOf('m', [asked, result], settings).tool_choice).toBeUndefined();
    const never: Settings = { ...settings, toolChoice: 'none' };
    expect(requestOf('m', [asked, result], never).tool_choice).toBe('none');
  });
});

describe('code', () => {
  const endpoint = { origin: 'http://127.0.0.1:8740', hasKey: true };
  const request = (text: string) => ({
    ...requestOf('m', [entry(text, null, 'user')], emptySettings()),
    top_k: 3,
  });

  it('says any text as it is, in every language', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const body = JSON.stringify(request(text), null, 2);
        const shell = asCode('curl', request(text), endpoint);
        const [, quoted = ''] = /-d '([\s\S]*)'$/.exec(shell) ?? [];
        expect(quoted.replaceAll(String.raw`'\''`, "'")).toBe(body);
        expect(quoted.replaceAll(String.raw`'\''`, '')).not.toContain("'");
        expect(() => parseAst(asCode('JavaScript', request(text), endpoint))).not.toThrow();
        expect(asCode('Python', request(text), endpoint)).toContain(`"content": ${JSON.stringify(text)}`);
      }),
      { numRuns: 100 },
    );
  });

  it('names the key and never holds it; Python gets further fields as OpenAI takes them', () => {
    for (const language of LANGUAGES)
      expect(asCode(language, request('x'), endpoint)).toContain('SVC_API_KEY');
    expect(asCode('Python', request('x'), endpoint)).toMatch(/extra_body=\{\s+"top_k": 3,/);
  });
});

describe('an exported file', () => {
  it('comes back as it was, under another id', () => {
    const measures = {
      firstMs: 1,
      tokensPerSecond: null,
      promptTokens: 9,
      answerTokens: 4,
      draftedTokens: 0,
    };
    const passages = [
      { from: 0, to: 4 },
      { from: 9, to: 12 },
    ];
    const before = of(
      entry('ask', null, 'user', { files: [{ name: 'long.txt', text: 'a text of it', passages }] }),
      entry('lost', 'ask', 'assistant', {
        failure: 'The model could not be loaded.',
        failureCode: 'load_failed',
      }),
      entry('said', 'ask', 'assistant', { finish: 'length', asked: { isJson: false, limit: 4 }, measures }),
    );
    const whole = { ...before, folder: 'work', lanes: [{ model: 'm', leaf: 'said' }] };
    const [after] = importFile(exportFile([whole], [])).conversations;
    expect(after).toEqual({ ...whole, id: after?.id });
    expect(after?.id).not.toBe(whole.id);
    expect(newOf([after as Conversation], [whole])).toEqual([]);
    expect(newOf([after as Conversation], [of(entry('ask', null, 'user'))])).toEqual([after]);
  });

  it('that is hostile gives conversations that are sound, or a sentence', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(() => importFile(json)).toThrow(/file/);
        const text = `{"kind":"hearth.conversations","conversations":[${json}]}`;
        const [read] = importFile(text).conversations;
        expect(read?.lanes.length).toBeGreaterThan(0);
      }),
    );
  });

  it('names passages only where its text has them', () => {
    const passages = [
      { from: 0, to: 3 },
      { from: 2, to: 4 },
      { from: -1, to: 9 },
      { from: 4, to: 99 },
      { from: 4.5, to: 5 },
      { from: 4, to: 5 },
    ];
    const files = [{ name: 'x', text: 'abcdef', passages }];
    const entries = [{ id: 'a', parent: null, role: 'user', text: '', files }];
    const file = { kind: 'hearth.conversations', conversations: [{ entries, folder: ' '.repeat(9) }] };
    const [read] = importFile(JSON.stringify(file)).conversations;
    expect(read?.entries[0]?.files?.[0]?.passages).toEqual([
      { from: 0, to: 3 },
      { from: 4, to: 5 },
    ]);
    expect(read).not.toHaveProperty('folder');
  });

  it('cannot lead a path in a circle', () => {
    const entries = [
      { id: 'a', parent: 'b', role: 'user', text: '' },
      { id: 'b', parent: 'a', role: 'user', text: '' },
      { id: 'c', parent: 'c', role: 'user', text: '' },
      { id: 'd', parent: null, role: 'user', text: '' },
    ];
    const file = {
      kind: 'hearth.conversations',
      conversations: [{ entries, lanes: [{ model: 'm', leaf: 'b' }] }],
    };
    const [read] = importFile(JSON.stringify(file)).conversations;
    expect(read?.entries.map(({ id }) => id)).toEqual(['d']);
    expect(read?.lanes).toEqual([{ model: 'm', leaf: null }]);
  });
});
