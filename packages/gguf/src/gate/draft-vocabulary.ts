export interface VocabularyFacts {
  readonly type: string;
  readonly size: number;
  readonly bos: number | null;
  readonly eos: number | null;
  readonly addBos: boolean;
  readonly addEos: boolean;
  readonly first: readonly string[];
}

/** Models of one family pad their vocabularies differently. */
const MOST_SIZE_DIFFERENCE = 128;
/** Earlier tokens are control tokens, which families name differently. */
const FIRST_COMPARED = 5;
export const LAST_COMPARED = 105;

/** Null if it can. */
export function whyNotDrafts(draft: VocabularyFacts, model: VocabularyFacts): string | null {
  if (draft.type !== model.type) return `its tokenizer is of type ${draft.type}, not ${model.type}`;
  if (Math.abs(draft.size - model.size) > MOST_SIZE_DIFFERENCE)
    return `its vocabulary has ${draft.size} tokens, not ${model.size}`;
  if (draft.addBos !== model.addBos || (model.addBos && draft.bos !== model.bos))
    return 'it begins texts with another token';
  if (draft.addEos !== model.addEos || draft.eos !== model.eos) return 'it ends texts with another token';
  for (let token = FIRST_COMPARED; token < LAST_COMPARED; token += 1) {
    const [there, here] = [draft.first[token], model.first[token]];
    if (there !== here) return `its token ${token} is ${JSON.stringify(there)}, not ${JSON.stringify(here)}`;
  }
  return null;
}
