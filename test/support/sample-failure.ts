/** A failure of any code, for tests that go through all of them; its detail follows the catalogue. */
import { catalogue, type ErrorCode } from '../../src/lib/errors/catalogue.ts';
import { reviveFailure, type SvcError } from '../../src/lib/errors/svc-error.ts';

export const allCodes = Object.keys(catalogue) as ErrorCode[];

export function sampleFailure(code: ErrorCode): SvcError {
  const values = { string: 'A plain sentence.', number: 1, boolean: true };
  const detail = Object.entries(catalogue[code].members).map(([name, kind]) => [
    name,
    values[kind.replace('?', '') as keyof typeof values],
  ]);
  const failure = reviveFailure(code, Object.fromEntries(detail));
  if (failure === null) throw new Error(`no sample for ${code}`);
  return failure;
}
