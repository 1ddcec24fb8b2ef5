import { describe, expect, it } from 'vitest';
import type { Turn } from '../../../contract/job.ts';
import { withoutVolatile } from './volatile-lines.ts';

const line = 'x-anthropic-billing-header: cc_version=2; cch=1;';
const system: Turn = { role: 'system', content: `${line}\n\nYou help.` };
const user: Turn = { role: 'user', content: `${line}\nWhat is this line?` };
const chat = (...turns: Turn[]) => ({ kind: 'chat' as const, turns });

describe('volatile lines of a conversation', () => {
  it('are dropped from system turns and nowhere else', () => {
    const { prompt, rewritten } = withoutVolatile(chat(system, user), 'drop');
    expect(prompt).toEqual(chat({ role: 'system', content: 'You help.' }, user));
    expect(rewritten).toEqual([{ name: 'x-anthropic-billing-header', how: 'dropped' }]);
  });

  it("are moved behind the last words that are not the model's", () => {
    const answer: Turn = { role: 'assistant', content: 'The' };
    const { prompt, rewritten } = withoutVolatile(chat(system, user, answer), 'move');
    const moved = { ...user, content: `${user.content}\n\n${line}` };
    expect(prompt).toEqual(chat({ role: 'system', content: 'You help.' }, moved, answer));
    expect(rewritten).toEqual([{ name: 'x-anthropic-billing-header', how: 'moved' }]);
  });

  it('leave no empty turn, and no empty conversation', () => {
    const only: Turn = { role: 'system', content: line };
    expect(withoutVolatile(chat(only, user), 'drop').prompt).toEqual(chat(user));
    expect(withoutVolatile(chat(only), 'drop')).toEqual({ prompt: chat(only), rewritten: [] });
  });

  it('stay on request, and in text that is no conversation', () => {
    expect(withoutVolatile(chat(system, user), 'keep').prompt).toEqual(chat(system, user));
    const text = { kind: 'text' as const, text: line };
    expect(withoutVolatile(text, 'drop')).toEqual({ prompt: text, rewritten: [] });
  });
});
