/** Requests an answer with its record, and checks it before anybody sees it. */
import type { Proof } from '../chat/talk/entry.ts';
import { checkRecord, headlineOf } from './check.ts';
import { frozen } from './proof-state.ts';
import { keyText, meetService } from './trust.ts';

interface Signed extends Proof {
  readonly text: string;
}

export async function signedAnswer(request: string, signal: AbortSignal): Promise<Signed> {
  await meetService();
  const nonce = crypto.randomUUID();
  const record = await frozen(request, nonce, signal);
  const checked = await checkRecord({ record, request, key: keyText(), nonce });
  const { choices } = JSON.parse(record) as { choices: { message: { content: string | null } }[] };
  return {
    text: choices[0]?.message.content ?? '',
    record,
    request,
    verdict: headlineOf(checked),
    isVerified: checked.exitCode === 0,
  };
}
