/** Requests that are answered, to be bent from there: one chosen word has little chance to be right by accident. */
const tool = { type: 'function', function: { name: 't', parameters: { type: 'object', properties: {} } } };
const messages = [{ role: 'user', content: 'Hi' }];
export const GOOD: Readonly<Record<string, readonly object[]>> = {
  '/v1/chat/completions': [
    { model: 'tiny', messages, max_tokens: 2, temperature: 0.5, stop: ['a'], seed: 1, top_p: 0.9 },
    { model: 'tiny', messages, max_tokens: 2, stream: true, stream_options: { include_usage: true }, n: 2 },
    { model: 'tiny', messages, max_tokens: 2, tools: [tool], tool_choice: 'auto', logit_bias: { 5: 1 } },
    {
      model: 'tiny',
      messages,
      max_tokens: 2,
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'x',
          schema: { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, required: ['a'] },
        },
      },
    },
    {
      model: 'tiny',
      messages,
      max_tokens: 2,
      repeat_penalty: 1.1,
      min_p: 0.1,
      logprobs: true,
      top_logprobs: 2,
    },
  ],
  '/v1/completions': [{ model: 'tiny', prompt: ['x'], max_tokens: 2, echo: true, logprobs: 1 }],
  '/v1/messages': [{ model: 'tiny', messages, max_tokens: 2, system: 's', stop_sequences: ['a'] }],
  '/v1/responses': [{ model: 'tiny', input: 'Hi', max_output_tokens: 16, store: true }],
  '/v1/embeddings': [{ model: 'embed', input: ['a', 'b'], encoding_format: 'base64', dimensions: 8 }],
  '/v1/rerank': [{ model: 'embed', query: 'q', documents: ['a', 'b'], top_n: 1 }],
  '/v1/decisions': [
    {
      model: 'tiny',
      input: 'x',
      questions: [{ type: 'choice', instructions: 'y', choices: [{ value: 'a' }, { value: 'b' }] }],
    },
  ],
  '/v1/tokenize': [{ model: 'tiny', content: 'abc' }],
  '/svc/unload': [{ model: 'tiny' }],
};
