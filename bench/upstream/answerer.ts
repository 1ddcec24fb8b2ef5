/**
 * An upstream that computes nothing: the words of an answer come at once where one is asked for, else one every
 * PACE_MS, as from an engine with a step of that length. Run by fork, it tells its port.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PACE_MS = 20;
const MODEL = 'tiny';
const HEAD = { id: 'chatcmpl-1', created: 1, model: MODEL };

interface Asked {
  readonly stream?: boolean;
  readonly max_tokens?: number;
}

const server = createServer((request, response) => void handle(request, response));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/v1/models') return sendJson(response, { data: [{ id: MODEL }] });
  if (request.url !== '/v1/chat/completions') return void response.writeHead(404).end();
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += String(part);
  const { stream = false, max_tokens: tokens = 1 } = JSON.parse(body) as Asked;
  if (stream) return sendStream(response, tokens);
  const message = { role: 'assistant', content: 'word ' };
  sendJson(response, {
    ...HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'length' }],
    usage: usageOf(1),
  });
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function sendStream(response: ServerResponse, tokens: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const object = 'chat.completion.chunk';
  const say = (fields: object): void =>
    void response.write(`data: ${JSON.stringify({ ...HEAD, object, ...fields })}\n\n`);
  for (let at = 0; at < tokens; at += 1) {
    if (at > 0) await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    say({ choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] });
  }
  say({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] });
  say({ choices: [], usage: usageOf(tokens) });
  response.end('data: [DONE]\n\n');
}

const usageOf = (completion: number) => ({
  prompt_tokens: 8,
  completion_tokens: completion,
  total_tokens: 8 + completion,
});
