import { describe, expect, it } from 'vitest';
import { readOwnRequests } from './own-requests.ts';

const chat = (words: readonly string[], over: object = {}) => ({
  model: 'm',
  messages: words.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  ...over,
});
const answered = (content: string): string => JSON.stringify({ choices: [{ message: { content } }] });

const entry = (body: unknown, answer = '', over: { path?: string; status?: number } = {}) => ({
  request: {
    url: `http://localhost${over.path ?? '/v1/chat/completions'}`,
    postData: { mimeType: 'application/json', text: typeof body === 'string' ? body : JSON.stringify(body) },
  },
  response: { status: over.status ?? 200, content: { text: answer } },
});
const conversations = (...entries: readonly unknown[]): string[][] | undefined =>
  readOwnRequests({ log: { entries } })?.requests.map(({ job: { prompt } }) =>
    prompt.kind === 'chat' ? prompt.turns.map(({ role, content }) => `${role}: ${content}`) : [],
  );

describe('requests of an archive', () => {
  it('are conversations with their answers, the newest first', () => {
    const stream = ['Mi', 'ld.']
      .map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
      .join('');
    expect(
      conversations(
        entry(chat(['One?']), answered('1')),
        entry(chat(['Weather?'], { stream: true }), `${stream}data: [DONE]\n\n`),
        entry(
          { model: 'm', max_tokens: 5, system: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }] },
          '',
          {
            path: '/v1/messages',
          },
        ),
      ),
    ).toEqual([
      ['system: Be brief.', 'user: Hi'],
      ['user: Weather?', 'assistant: Mild.'],
      ['user: One?', 'assistant: 1'],
    ]);
  });

  it('are taken once where a later one goes on with the same words', () => {
    const later = entry(chat(['a', 'b', 'c']), answered('d'));
    expect(conversations(entry(chat(['a']), answered('b')), later)).toEqual([
      ['user: a', 'assistant: b', 'user: c', 'assistant: d'],
    ]);
  });

  it.each([
    ['failed', entry(chat(['x']), '', { status: 500 })],
    ['were cut', entry('{"model":"m","mess')],
    ['are no chats', entry({ model: 'm', input: 'x' }, '', { path: '/v1/embeddings' })],
    ['have another shape', entry({ model: 'm', messages: 'x' })],
    [
      'have an image',
      entry({
        model: 'm',
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
          },
        ],
      }),
    ],
    ['have no text', { request: { url: 'http://localhost/v1/chat/completions' }, response: {} }],
    ['are nonsense', null],
  ])('are left out that %s', (_, left) => {
    expect(conversations(left, entry(chat(['kept'])))).toEqual([['user: kept']]);
  });

  it('are sixteen at most, and none of what is no archive', () => {
    const many = Array.from({ length: 40 }, (_, at) => entry(chat([`question ${at}`])));
    expect(conversations(...many)).toHaveLength(16);
    expect(readOwnRequests({ log: { entries: many } })?.left).toBe(24);
    expect(readOwnRequests({ entries: [] })).toBeNull();
  });
});
