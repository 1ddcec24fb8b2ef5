/** What the routes beside the interface promise, in the words of docs/routes.md, by id; requirements.ts takes them in. */
export const furtherSentences = {
  'rerank.results':
    'POST /v1/rerank answers results of index and relevance_score, the best first, at most top_n of them.',
  'rerank.documents': 'return_documents repeats each text in its result.',
  'rerank.ranker': 'A model that ranks scores the pairs, where one is named or installed.',
  'rerank.cosine':
    'Else the vectors of an embedding model are compared; X-Svc-Rerank-Backend says which of both it was.',
  'tokenize.tokens': "POST /v1/tokenize answers a text's tokens and their count, and names the model.",
  'tokenize.names': 'The text is input, content or prompt: one of them.',
  'tokenize.plain': 'The marks of control tokens are ordinary text unless parse_special is true.',
  'tokenize.special': 'add_special adds the tokens that the model expects before and after any text.',
  'tokenize.pieces':
    'with_pieces lists each token as an object with id and piece; a part of a character is bytes.',
  'detokenize.content': 'POST /v1/detokenize answers the text of tokens, control tokens as their marks.',
  'detokenize.known': 'A number that is no token of the model is a 400 that names its place.',
  'tokens.any-model': 'Chat models, embedding models and rerankers all answer.',
  'tokens.no-slot': 'Neither route waits for answers that run.',
  'completions.prompts':
    'Several prompts of a text completion are continued each by itself, in their order, n times each.',
  'completions.tokens': 'A prompt may be tokens by their ids, as a list or a list of lists.',
  'completions.suffix': 'suffix is the text behind the gap that the answer fills.',
  'completions.echo': 'echo begins each answer with its prompt.',
  'completions.logprobs':
    'logprobs reports tokens, token_logprobs, top_logprobs by text, and text_offset in characters.',
} as const;
