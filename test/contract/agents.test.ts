/**
 * What real agents send is accepted as it is: requests that were recorded from the programs, with the words of their
 * prompts and descriptions replaced. docs/agents.md says how they were run.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { namedEvents, type NamedEvent } from '../support/http/named-events.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

interface Recorded {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly model: string; readonly tools: readonly unknown[]; readonly stream: boolean };
}

const folder = fileURLToPath(new URL('../fixtures/agents/', import.meta.url));
const service = scriptedService({ unknownModelIsDefault: true });

/** Nothing of these changes what an answer is. */
const HARMLESS =
  /^(thinking|metadata|context_management|reasoning\.summary|prompt_cache_key|client_metadata|tools\[\d+\]\.web_search)$/;

it.each(readdirSync(folder))('%s is answered', async (file) => {
  const { path, headers, body } = JSON.parse(readFileSync(folder + file, 'utf8')) as Recorded;
  const reply = await service.client.post(path, body, headers);
  expect(reply.status, reply.text).toBe(200);
  if (path === '/v1/chat/completions') expect(reply.text).toMatch(/data: \[DONE\]\n\n$/);
  else expect(lastEvent(path, reply.text)?.type).toMatch(/^(message_stop|response\.completed)$/);
  const ignored = String(reply.headers['x-svc-ignored-params'] ?? '').split(',');
  expect(ignored.filter((name) => name !== '' && !HARMLESS.test(name))).toEqual([]);
  const { job } = service.engine.lastJob.submission;
  if (job.kind !== 'generate' || job.prompt.kind !== 'chat') throw new Error('not a chat job');
  expect(job.tools.length).toBeGreaterThan(8);
  expect(job.prompt.turns.map(({ role }) => role)).toEqual(
    expect.arrayContaining(['system', 'user', 'tool']),
  );
  // A header in disguise would differ from request to request, and spoil the cache.
  expect(JSON.stringify(job.prompt.turns)).not.toContain('billing-header');
});

function lastEvent(path: string, text: string): NamedEvent | undefined {
  return namedEvents(path, text).at(-1);
}
