/**
 * lib/errors owns every failure that Hearth names: code → family, retryability, members of its detail, and the
 * sentence for users. It knows no HTTP statuses and no wire shapes (server/http/error-response.ts does). A sentence names
 * the thing, the cause and the remedy.
 */
import { balanceErrors } from './upstream-errors.ts';
import { engineErrors } from './engine-errors.ts';
import type { DetailFrom, Family } from './entry.ts';
import { hubErrors } from './hub-errors.ts';
import { contentErrors, httpErrors } from './request-errors.ts';
import { storeErrors } from './store-errors.ts';
import { upstreamErrors } from './upstream-errors.ts';

export const catalogue = {
  ...contentErrors,
  ...httpErrors,
  ...engineErrors,
  ...storeErrors,
  ...hubErrors,
  ...upstreamErrors,
  ...balanceErrors,
};

export type ErrorCode = keyof typeof catalogue;

export type DetailOf<C extends ErrorCode> = DetailFrom<(typeof catalogue)[C]['members']>;

const sentences: { readonly [C in ErrorCode]: { readonly sentence: (detail: DetailOf<C>) => string } } =
  catalogue;

export function errorSentence<C extends ErrorCode>(code: C, detail: DetailOf<C>): string {
  return sentences[code].sentence(detail);
}

export function mayRetry({ code, detail }: { readonly code: ErrorCode; readonly detail: unknown }): boolean {
  const { retryable, repeats } = catalogue[code] as {
    readonly retryable: boolean;
    readonly repeats?: (detail: unknown) => boolean;
  };
  return retryable && repeats?.(detail) !== true;
}

export function catalogueEntry(code: ErrorCode): { readonly family: Family; readonly retryable: boolean } {
  return catalogue[code];
}
