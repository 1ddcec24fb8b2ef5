/**
 * The id of a tool call: a hash of the conversation before it, the tool and the arguments. A repeated request gets
 * the same id, so a client can recognise a call before its tool runs twice. The same call later in the conversation
 * has another history and so another id.
 */
import { createHash } from 'node:crypto';
import type { Turn } from '../../../contract/job.ts';
import { parseSpelled } from '../../../lib/json/parse-spelled.ts';
import { spelled } from '../../../lib/json/spelled-numbers.ts';
import { canonicalize } from '../../../lib/json/canonicalize.ts';

export function callId(
  turns: readonly Turn[],
  {
    name,
    argumentsJson,
    index,
  }: { readonly name: string; readonly argumentsJson: string; readonly index: number },
): string {
  const call = [turns, name, canonicalArguments(argumentsJson)];
  // Two equal calls in one answer need two ids.
  const what = canonicalize(index === 0 ? call : [...call, index]) ?? '';
  return `call_${createHash('sha256').update(what).digest('hex').slice(0, 24)}`;
}

export function canonicalArguments(json: string): unknown {
  try {
    return { json: spelled(parseSpelled(json)) };
  } catch {
    return { text: json };
  }
}
