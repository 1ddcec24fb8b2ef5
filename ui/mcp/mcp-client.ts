/**
 * ui/mcp owns the connection to servers of the Model Context Protocol on this machine, which the page itself calls
 * and never the service. It does not know who allowed a call. This file: the streamable HTTP transport, as far as
 * tools need it. Output of a server is bounded, and is text.
 */
import { framesOf } from '../service/frames.ts';

const VERSION = '2025-06-18';
/** Characters of one response. */
const MOST_ANSWER_CHARS = 4_000_000;
/** Characters of a call's result; a model reads no more. */
const MOST_RESULT_CHARS = 100_000;
const MOST_TOOLS = 64;
const MOST_PAGES = 8;
const PATIENCE_MS = 60_000;

export interface ServedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: object;
}

interface Session {
  readonly server: string;
  /** The server's session id; null: it keeps no session. */
  id: string | null;
  /** Negotiated protocol version; null: none yet. */
  version: string | null;
  last: number;
}
const sessions = new Map<string, Promise<Session>>();

export async function listTools(server: string, end: AbortSignal): Promise<ServedTool[]> {
  const tools: ServedTool[] = [];
  let cursor: unknown;
  for (let page = 0; page < MOST_PAGES && tools.length < MOST_TOOLS; page += 1) {
    const params = typeof cursor === 'string' ? { cursor } : {};
    const result = await inSession(server, { method: 'tools/list', params }, end);
    tools.push(...listOf(result['tools']).flatMap(readTool));
    cursor = result['nextCursor'];
    if (typeof cursor !== 'string') break;
  }
  return tools.slice(0, MOST_TOOLS);
}

/** Returns text for the model. Throws a sentence for the user if the server did not run the call. */
export async function callTool(
  server: string,
  { name, args }: { readonly name: string; readonly args: object },
  end: AbortSignal,
): Promise<string> {
  const result = await inSession(server, { method: 'tools/call', params: { name, arguments: args } }, end);
  const text = resultText(result);
  return text.length > MOST_RESULT_CHARS
    ? `${text.slice(0, MOST_RESULT_CHARS)}\n[cut after ${MOST_RESULT_CHARS} characters]`
    : text;
}

type Members = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isRecord) : []);

function readTool({ name, description, inputSchema }: Members): ServedTool[] {
  if (typeof name !== 'string' || name === '' || !isRecord(inputSchema)) return [];
  return [{ name, description: typeof description === 'string' ? description : '', parameters: inputSchema }];
}

function resultText({ content, structuredContent, isError }: Members): string {
  const parts = listOf(content).map(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? text : `[${String(type)}, not shown to the model]`,
  );
  const text =
    parts.length === 0 && isRecord(structuredContent) ? JSON.stringify(structuredContent) : parts.join('\n');
  return isError === true ? `The tool failed: ${text}` : text;
}

interface Asked {
  readonly method: string;
  readonly params: object;
}

/** A restarted server has lost its sessions, so a new one is begun. */
async function inSession(server: string, asked: Asked, end: AbortSignal): Promise<Members> {
  const patience = AbortSignal.any([end, AbortSignal.timeout(PATIENCE_MS)]);
  const known = sessions.has(server);
  try {
    return await request(await sessionWith(server, patience), asked, patience);
  } catch (error) {
    sessions.delete(server);
    if (patience.aborted && !end.aborted)
      throw new Error('The server did not answer in time.', { cause: error });
    if (!known || !(error instanceof SessionOver)) throw error;
    return request(await sessionWith(server, patience), asked, patience);
  }
}

class SessionOver extends Error {}

function sessionWith(server: string, end: AbortSignal): Promise<Session> {
  const there = sessions.get(server) ?? begin(server, end);
  sessions.set(server, there);
  return there;
}

async function begin(server: string, end: AbortSignal): Promise<Session> {
  const session: Session = { server, id: null, version: null, last: 0 };
  const clientInfo = { name: 'hearth-page', version: '1' };
  const params = { protocolVersion: VERSION, capabilities: {}, clientInfo };
  const { protocolVersion } = await request(session, { method: 'initialize', params }, end);
  const isUsable = typeof protocolVersion === 'string' && /^[\w.-]{1,32}$/.test(protocolVersion);
  session.version = isUsable ? protocolVersion : VERSION;
  await post(session, { jsonrpc: '2.0', method: 'notifications/initialized' }, end);
  return session;
}

async function request(session: Session, asked: Asked, end: AbortSignal): Promise<Members> {
  session.last += 1;
  const id = session.last;
  const response = await post(session, { jsonrpc: '2.0', id, ...asked }, end);
  const { error, result } = await answerIn(response, id);
  if (isRecord(error)) throw new Error(`The server refused it: ${String(error['message']).slice(0, 500)}`);
  if (!isRecord(result)) throw new Error('The server returned no result.');
  return result;
}

async function post(session: Session, message: object, end: AbortSignal): Promise<Response> {
  const { server } = session;
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(session.version === null ? {} : { 'MCP-Protocol-Version': session.version }),
    ...(session.id === null ? {} : { 'Mcp-Session-Id': session.id }),
  };
  const init = { method: 'POST', headers, body: JSON.stringify(message), signal: end } as const;
  const response = await fetch(server, {
    ...init,
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
  }).catch((cause: unknown) => {
    if (end.aborted) throw cause;
    throw new Error(
      `${server} cannot be reached. Check that it runs, that it lets pages of ${location.origin} call it (CORS), and that Hearth was started with SVC_PAGE_CONNECT=${new URL(server).origin}.`,
      { cause },
    );
  });
  session.id = response.headers.get('Mcp-Session-Id') ?? session.id;
  if (response.status === 404 && session.id !== null) throw new SessionOver('The server ended the session.');
  if (!response.ok) throw new Error(`The server answered with status ${response.status}.`);
  return response;
}

async function answerIn(response: Response, id: number): Promise<Members> {
  if (!response.headers.get('Content-Type')?.startsWith('text/event-stream'))
    return parsed(await boundedText(response));
  let chars = 0;
  for await (const { data } of framesOf(response)) {
    chars += data.length;
    if (chars > MOST_ANSWER_CHARS) throw tooLarge();
    const message = parsed(data);
    if (message['id'] === id) return message;
  }
  throw new Error('The server ended the stream before its answer.');
}

const tooLarge = (): Error => new Error('The answer of the server is too large.');

function parsed(text: string): Members {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new Error('The server returned something that is no answer.');
  return value;
}

async function boundedText(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (reader === undefined) return text;
  while (true) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    if (text.length > MOST_ANSWER_CHARS) {
      await reader.cancel();
      throw tooLarge();
    }
  }
  return text + decoder.decode();
}
