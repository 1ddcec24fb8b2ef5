/** What rendering a template reads of a vocabulary without control tokens. */
import type { Vocabulary } from '../../../src/worker/prompt/vocabulary.ts';

export const plainVocabulary = {
  bosText: '<s>',
  eosText: '</s>',
  controlTexts: [],
  userDefinedTexts: [],
  separateTexts: [],
} as Partial<Vocabulary> as Vocabulary;
