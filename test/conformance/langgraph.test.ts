/** The unmodified `@langchain/langgraph` package: its message list replaces a message by a later one with the same id. */
import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answer, done, type Script, started } from '../support/http/scripted-engine.ts';
import { scriptedService } from '../support/http/scripted-service.ts';
import { ManualClock } from '../support/manual-clock.ts';

// Time stands still, so that every answer falls into one second, as on a fast machine.
const service = scriptedService({ clock: new ManualClock(1_760_000_000_000) });

const callWeather: Script = [
  started(),
  { type: 'tool_call', name: 'get_weather' },
  { type: 'tool_arguments', text: '{"city":"Oslo"}' },
  done('tool_calls'),
];

describe('a ReAct agent of @langchain/langgraph', () => {
  it('keeps every message, whatever ids the answers of one second have', async () => {
    const asked: string[] = [];
    const weather = tool(({ city }) => `${asked.push(city)} degrees`, {
      name: 'get_weather',
      description: 'The weather of a city.',
      schema: z.object({ city: z.string() }),
    });
    const llm = new ChatOpenAI({
      model: 'default',
      apiKey: 'none',
      maxRetries: 0,
      configuration: { baseURL: `${service.url}/v1` },
    });
    service.engine.plays(callWeather, callWeather, answer('One', ' degree.'));
    const { messages } = await createReactAgent({ llm, tools: [weather] }).invoke({
      messages: [{ role: 'user', content: 'How is Oslo?' }],
    });
    expect(messages.map((message) => message.type)).toEqual(['human', 'ai', 'tool', 'ai', 'tool', 'ai']);
    expect(asked).toEqual(['Oslo', 'Oslo']);
    expect(messages.at(-1)?.content).toBe('One degree.');
  });
});
