import { describe, expect, it } from 'vitest';
import type { Turn } from '../../../contract/job.ts';
import { orderResults } from './result-order.ts';

const calls = (...ids: string[]): Turn => ({
  role: 'assistant',
  content: '',
  toolCalls: ids.map((id) => ({ id, name: 't', argumentsJson: '{}' })),
});
const result = (toolCallId: string): Turn => ({ role: 'tool', content: `of ${toolCallId}`, toolCallId });
const user: Turn = { role: 'user', content: 'go' };

describe('results of tools', () => {
  it('stand in the order of their calls, whatever order they came in', () => {
    const turns = [user, calls('a', 'b', 'c'), result('c'), result('a'), result('b'), user];
    const sorted = [user, calls('a', 'b', 'c'), result('a'), result('b'), result('c'), user];
    expect(orderResults(turns)).toEqual(sorted);
  });

  it('are sorted among their own neighbours only', () => {
    const turns = [calls('a'), result('a'), user, calls('b', 'a'), result('a'), result('b')];
    expect(orderResults(turns)).toEqual([
      calls('a'),
      result('a'),
      user,
      calls('b', 'a'),
      result('b'),
      result('a'),
    ]);
  });

  it('of no known call stay behind the others, in their own order', () => {
    const lost: Turn = { role: 'tool', content: 'lost' };
    const turns = [calls('a', 'b'), result('x'), lost, result('b'), result('a')];
    expect(orderResults(turns)).toEqual([calls('a', 'b'), result('a'), result('b'), result('x'), lost]);
  });
});
