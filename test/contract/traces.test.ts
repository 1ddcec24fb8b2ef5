/** Traces by the real SDK to a collector over OTLP/HTTP: a span for each request, one for each stage, and no text. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/lib/base/logger.ts';
import { openTracing, type Tracing } from '../../src/server/tracing.ts';
import type { JobEvent } from '../../src/contract/job-event.ts';
import { done, queued, text } from '../support/http/scripted-engine.ts';
import { installed, type ScriptedService, startScripted } from '../support/http/scripted-service.ts';

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

const canary = 'a-word-of-the-prompt';
const sent: string[] = [];
const collector = http.createServer((request, response) => {
  let text = '';
  request.on('data', (part: Buffer) => (text += part.toString()));
  request.on('end', () => {
    sent.push(text);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
let service: ScriptedService;
let tracing: Tracing | null;

const open = (env: Record<string, string>) =>
  openTracing({ env, version: '1.2.3', instanceId: 'svc-x', log: silentLogger });

beforeAll(async () => {
  await new Promise<void>((resolve) => void collector.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  // The exporter reads it from the environment of its process, as every program with this SDK does.
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = endpoint;
  tracing = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
  service = await startScripted({ tracing });
});

afterAll(async () => {
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  await service.close();
  collector.close();
});

describe('a trace', () => {
  it('is off unless the environment names a collector', async () => {
    expect(await open({})).toBeNull();
    expect(await open({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x', OTEL_SDK_DISABLED: 'true' })).toBeNull();
  });

  it('continues that of the client, with a span for each stage and the figures of the conventions', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const prepared: JobEvent = {
      type: 'started',
      promptTokens: 7,
      cachedTokens: 3,
      numCtx: 4096,
      preparation: { promptMs: 1.5, grammarMs: 0.2 },
    };
    service.engine.plays([queued(1), prepared, text('{"a":1}'), done('stop', 2)]);
    const { status } = await service.client.chat(
      { messages: [{ role: 'user', content: canary }], response_format: { type: 'json_object' } },
      { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'a=b', 'x-request-id': 'traced' },
    );
    expect(status).toBe(200);
    const { route } = service.engine.lastJob.submission;
    await service.client.chat({ model: 'nobody' }, { 'x-request-id': 'refused' });
    while (!(await service.client.get('/svc/requests')).text.includes('refused'));
    await tracing?.close();
    const spans = sent.flatMap((text) => {
      const { resourceSpans } = JSON.parse(text) as {
        resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[];
      };
      return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    });
    const root = spans.find(({ name }) => name === `chat ${installed.chat}`);
    expect(root).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' });
    const facts = Object.fromEntries(
      (root?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]),
    );
    expect(facts).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': installed.chat,
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 2,
      'http.route': '/v1/chat/completions',
      'hearth.request.id': 'traced',
    });
    const stages = spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId).map(({ name }) => name);
    expect(stages).toEqual(expect.arrayContaining(['prompt', 'grammar', 'prefill', 'decode', 'check']));
    // An engine elsewhere continues the span of this service, and not that of the client.
    expect(route).toMatchObject({ traceparent: `00-${traceId}-${root?.spanId}-01`, tracestate: 'a=b' });
    expect(spans.find(({ name }) => name === 'chat')?.traceId).not.toBe(traceId);
    expect(sent.join('')).not.toContain(canary);
  });
});
