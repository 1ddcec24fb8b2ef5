import type { ModelEntry } from '../../../src/wire/models.ts';

/** In the order in which they are shown; what every chat model can, is no news. */
const WORDS: readonly (readonly [capability: string, word: string, about: string])[] = [
  ['vision', 'images', 'Reads images'],
  ['audio', 'audio', 'Reads sound'],
  ['reasoning', 'reasoning', 'Reasons before it answers'],
  ['tools', 'tools', 'Can ask to call tools'],
  ['json', 'JSON', 'Answers in JSON that matches a schema'],
  ['embeddings', 'embeddings', 'Makes vectors of texts'],
  ['rerank', 'reranking', 'Sorts documents by how well they answer'],
];

export interface Ability {
  readonly word: string;
  readonly about: string;
}

export const listAbilities = ({ capabilities }: Pick<ModelEntry, 'capabilities'>): Ability[] =>
  WORDS.filter(([capability]) => capabilities?.includes(capability)).map(([, word, about]) => ({
    word,
    about,
  }));
