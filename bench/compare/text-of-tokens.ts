/** Text by its length in tokens. Vocabularies differ by a factor of four in what they make of the same words. */
import { postJson, type Side } from '../client/side.ts';
import { text } from '../words.ts';
import type { TextOf } from './scenario.ts';

export async function textOfTokens(side: Side): Promise<TextOf> {
  const [few, many] = [20, 120];
  const perWord = ((await promptTokens(side, many)) - (await promptTokens(side, few))) / (many - few);
  return (tokens, seed) => text(Math.max(1, Math.round(tokens / perWord)), seed);
}

async function promptTokens(side: Side, words: number): Promise<number> {
  const messages = [{ role: 'user', content: text(words, 7) }];
  const { body } = await postJson(side, '/v1/chat/completions', { messages, max_tokens: 1 });
  return (body as { readonly usage: { readonly prompt_tokens: number } }).usage.prompt_tokens;
}
