/** What a person should know about a model without a chat template; the words go behind its name. */
export const BASE_MODEL = [
  'has no chat template: a base model, which continues text rather than answers. /v1/completions suits it; chats get a stand-in template',
  '(ChatML). If it was trained on another, hearth set ID template=NAME names that.',
].join(' ');
