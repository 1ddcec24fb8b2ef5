/** A record in a few lines for people; hearth evidence checks it, this only reads it. */
import type { SignedAnswer } from './state.ts';

interface Statement {
  readonly predicate?: {
    readonly issuer?: { readonly instance_id?: string; readonly seq?: number; readonly issued_at?: string };
    readonly model?: { readonly id?: string; readonly blob_sha256?: string };
    readonly backend?: { readonly backend_sha256?: string };
    readonly output?: { readonly n_tokens?: number; readonly trace_sha256?: string };
  };
}

export function introduce({ response }: SignedAnswer): string {
  const { issuer, model, backend, output } = statementOf(response)?.predicate ?? {};
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['instance', issuer?.instance_id],
    ['signed', `${issuer?.issued_at}, number ${issuer?.seq} of this boot`],
    ['model', `${model?.id}, sha256 ${model?.blob_sha256}`],
    ['backend', `sha256 ${backend?.backend_sha256}`],
    ['output', `${output?.n_tokens} tokens, trace sha256 ${output?.trace_sha256}`],
  ];
  return [
    'Evidence of the last answer (frozen-v1), unchecked:',
    ...rows.map(([name, value]) => `  ${name.padEnd(10)}${value ?? 'not stated'}`),
    '/evidence save FILE writes it, with its request, for hearth evidence verify.',
  ].join('\n');
}

function statementOf(response: string): Statement | null {
  try {
    const { evidence } = JSON.parse(response) as { evidence?: { payload?: string } };
    const bytes = Uint8Array.from(atob(evidence?.payload ?? ''), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Statement;
  } catch {
    // The service answered without a record that can be read; the rows then say so.
    return null;
  }
}
