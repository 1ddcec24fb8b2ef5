/** The query and the documents of a rerank request, checked with sentences that say what to send instead. */
import { MOST_DOCUMENTS, type RerankRequest } from '../../wire/inference/rerank.ts';
import { readText, refuse } from '../embedding/texts.ts';

/** What the request and its errors call a document, whichever form it has. */
export const documentName = (index: number): string => `documents[${index}]`;

/** Well-formed and not empty, or a 400. */
export function readQuery(query: RerankRequest['query']): string {
  const remedy = 'send the text that the documents are to answer';
  if (typeof query !== 'string') refuse(`query must be a string; ${remedy}.`, 'query');
  if (query === '') refuse(`query must not be empty; ${remedy}.`, 'query');
  return readText(query, 'query', 'shorten it');
}

export function readDocuments(documents: RerankRequest['documents']): string[] {
  const form = `a list of 1 to ${MOST_DOCUMENTS} strings`;
  if (!Array.isArray(documents)) return refuse(`documents must be an array; send ${form}.`, 'documents');
  if (documents.length === 0) refuse(`documents must not be an empty array; send ${form}.`, 'documents');
  if (documents.length > MOST_DOCUMENTS) {
    refuse(
      `documents has ${documents.length} items; send at most ${MOST_DOCUMENTS} per request.`,
      'documents',
    );
  }
  return documents.map((each: unknown, index) => {
    const name = documentName(index);
    const text = typeof each === 'object' && each !== null && 'text' in each ? each.text : each;
    if (typeof text !== 'string') refuse(`${name} must be a string, or an object with a string text.`, name);
    return readText(text, name);
  });
}
