import { describe, expect, it } from 'vitest';
import { wireFinishReason } from './usage.ts';

describe('wireFinishReason', () => {
  it.each([
    // truth, stream, dialect of OpenAI, wire
    ['stop', false, false, 'stop'],
    ['stop', false, true, 'stop'],
    ['stop', true, false, 'stop'],
    ['stop', true, true, 'stop'],
    ['length', false, false, 'length'],
    ['length', false, true, 'length'],
    ['length', true, false, 'stop'],
    ['length', true, true, 'length'],
    ['tool_calls', false, false, 'tool_calls'],
    ['tool_calls', false, true, 'tool_calls'],
    ['tool_calls', true, false, 'tool_calls'],
    ['tool_calls', true, true, 'tool_calls'],
  ] as const)('%s, stream %s, OpenAI fields %s → %s', (truth, stream, dialect, wire) => {
    expect(wireFinishReason(truth, stream, dialect)).toBe(wire);
  });
});
