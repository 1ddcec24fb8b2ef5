/** A server of the Model Context Protocol over streamable HTTP, as far as tools need it, on a loopback port. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: { readonly a: number; readonly b: number };
  };
}

export interface McpServer {
  readonly origin: string;
  readonly address: string;
  /** Methods that were called, in order. */
  readonly methods: readonly string[];
  /** Makes every session that it began invalid, as a new start would. */
  forget(): void;
  close(): void;
}

const TOOL = {
  name: 'math.add',
  description: 'Adds two numbers',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
};

export async function startMcpServer(): Promise<McpServer> {
  const methods: string[] = [];
  let session = 1;
  const answer = ({ method, params }: Message): object => {
    if (method === 'initialize') {
      const serverInfo = { name: 'sums', version: '1' };
      return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
    }
    if (method === 'tools/list') return { tools: [TOOL] };
    const { a = 0, b = 0 } = params?.arguments ?? {};
    return b === 13
      ? { isError: true, content: [{ type: 'text', text: 'it does not like 13' }] }
      : { content: [{ type: 'text', text: `the sum is ${a + b}` }] };
  };
  const respond = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const message = JSON.parse(body) as Message;
    methods.push(message.method);
    const isBegin = message.method === 'initialize';
    if (!isBegin && request.headers['mcp-session-id'] !== String(session))
      return void response.writeHead(404).end();
    if (!isBegin && request.headers['mcp-protocol-version'] !== '2025-06-18')
      return void response.writeHead(400).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    const reply = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) });
    // It may answer either way.
    if (message.method !== 'tools/call') {
      response
        .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': String(session) })
        .end(reply);
      return;
    }
    const progress = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: {} });
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`event: message\ndata: ${progress}\n\nevent: message\ndata: ${reply}\n\n`);
  };
  const server = createServer((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', request.headers.origin ?? '');
    response.setHeader('Access-Control-Allow-Headers', 'content-type, mcp-session-id, mcp-protocol-version');
    response.setHeader('Access-Control-Expose-Headers', 'mcp-session-id');
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => respond(request, response, Buffer.concat(chunks).toString('utf8')));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    address: `${origin}/mcp`,
    methods,
    forget: () => void (session += 1),
    close: () => void server.close(),
  };
}
