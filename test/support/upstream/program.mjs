/**
 * An upstream that does what the name of the model says: it answers, or fails in one named way. It runs in a test's own
 * process, or as a program: node program.mjs --port 0 [--model NAME …] [--start-ms N] [--crash-at-start].
 */
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const words = ['Once ', 'upon ', 'a ', 'time ', 'there ', 'was ', 'a ', 'fox.'];

/** A thousand times as large once it is unpacked. */
const BOMB = gzipSync(Buffer.alloc(4 * 1024 * 1024));

/** What the model `tale` tells. */
export const TALE = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ');

async function failAt(answer, kind) {
  if (kind === 'reset') answer.reset();
  else if (kind === 'rubbish') answer.raw('data: {"choices":[{"delta"\n\n');
  else if (kind === 'refused') answer.refuse(503, { error: { message: 'full' } });
  else if (kind === 'ends') answer.response.end();
  else if (kind === 'error') answer.raw('data: {"error":{"message":"CUDA error","code":500}}\n\n');
  else if (kind !== 'stall') throw new Error(`there is no fault ${kind}`);
}

/** How each model answers a chat; `say` sends one chunk, `end` the rest of a good answer. */
const BEHAVIOURS = {
  good: async (answer) => answer.whole(),
  /** Says only its half, then nothing more comes. */
  hung: async (answer) => answer.say(words.slice(0, 4)),
  /** Not even a head. */
  silent: async () => {},
  'head-only': async (answer) => answer.head(),
  slow: async (answer) => {
    answer.head();
    for (const word of words) {
      answer.chunk({ content: word });
      await answer.pause(20);
    }
    answer.finish();
  },
  reset: async (answer) => {
    await answer.say(words.slice(0, 3));
    answer.reset();
  },
  'reset-at-once': async (answer) => answer.reset(),
  /** As if each connection had been closed behind its first request. */
  'reset-when-kept': async (answer) => (answer.isKept ? answer.reset() : answer.whole()),
  'ends-early': async (answer) => {
    await answer.say(words.slice(0, 3));
    answer.response.end();
  },
  'broken-json': async (answer) => {
    await answer.say(words.slice(0, 2));
    answer.raw('data: {"choices":[{"delta"\n\n');
    answer.finish();
  },
  /** Words and rubbish that arrive together. */
  'words-and-rubbish': async (answer) => {
    answer.head();
    answer.raw(`data: {"choices":[{"delta":{"content":"${words[0]}"}}]}\n\ndata: {"choices":[{"delta"\n\n`);
  },
  'goes-on': async (answer) => {
    await answer.say(words.slice(0, 2));
    answer.chunk({}, 'stop');
    answer.chunk({ content: 'and more' });
    answer.raw('data: [DONE]\n\n');
    answer.response.end();
  },
  'wrong-type': async ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>');
  },
  'endless-line': async (answer) => {
    answer.head();
    answer.raw('data: {"choices":[{"delta":{"content":"');
    const part = 'x'.repeat(1024 * 1024);
    while (!answer.response.destroyed) {
      answer.raw(part);
      await answer.pause(1);
    }
  },
  gzip: async ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end(BOMB);
  },
  redirect: async ({ response }) => {
    response.writeHead(302, { location: 'http://127.0.0.1:1/v1/chat/completions' }).end();
  },
  'error-frame': async (answer) => {
    await answer.say(words.slice(0, 2));
    answer.raw('data: {"error":{"message":"CUDA error","code":500}}\n\n');
    answer.response.end();
  },
  'busy-429': async (answer) =>
    answer.refuse(429, { error: { message: 'slow down' } }, { 'retry-after': '7' }),
  'busy-503': async (answer) => answer.refuse(503, { error: { message: 'Loading model' } }),
  'bad-500': async (answer) => answer.refuse(500, { error: { message: 'out of luck' } }),
  'refuses-400': async (answer) => answer.refuse(400, { error: { message: 'top_k must be odd' } }),
  'denies-401': async (answer) =>
    answer.refuse(401, { error: { message: `wrong key: ${answer.request.headers.authorization}` } }),
  'leaks-key': async (answer) =>
    answer.refuse(400, { error: { message: `what is ${answer.request.headers.authorization}?` } }),
  'too-long': async (answer) =>
    answer.refuse(400, {
      error: { type: 'exceed_context_size_error', message: 'too long', n_prompt_tokens: 900, n_ctx: 512 },
    }),
  'gone-404': async (answer) => answer.refuse(404, { error: { message: 'no such model' } }),
  'wrong-ids': async (answer) => {
    answer.head({ 'x-svc-instance-id': 'evil', 'x-svc-boot-id': 'evil', 'set-cookie': 'a=b' });
    answer.raw(
      'event: evil\nid: 7\ndata: {"id":"evil","model":"evil","choices":[{"index":9,"delta":{"content":"hello"}}]}\n\n',
    );
    answer.finish();
  },
  'calls-tool': async (answer) => {
    const [tool] = answer.body.tools ?? [];
    const call = (index, id, name, text) => ({
      index,
      id,
      type: 'function',
      function: { name, arguments: text },
    });
    answer.head();
    answer.chunk({ tool_calls: [call(0, 'call_upstream', tool.function.name, '{"city":')] });
    answer.chunk({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] });
    answer.chunk({ tool_calls: [call(1, 'call_second', tool.function.name, '{"city":"Rome"}')] });
    answer.finish('tool_calls');
  },
  'calls-badly': async (answer) => {
    const [tool] = answer.body.tools ?? [];
    answer.head();
    answer.chunk({
      tool_calls: [
        {
          index: 0,
          id: 'c',
          type: 'function',
          function: { name: tool.function.name, arguments: '{"city":7}' },
        },
      ],
    });
    answer.finish('tool_calls');
  },
  thinks: async (answer) => {
    answer.head();
    answer.chunk({ reasoning_content: 'Let me see. ' });
    answer.chunk({ content: 'Four.' });
    answer.finish();
  },
  /** What it was asked, as its answer. */
  mirror: async (answer) => {
    answer.head();
    const { authorization, ...headers } = answer.request.headers;
    answer.chunk({ content: JSON.stringify({ headers, authorization, body: answer.body }) });
    answer.finish();
  },
  /** Two hundred words, from where an answer was begun; `faultOf` says how it fails, and after how many words. */
  tale: async (answer) => {
    const { body, upstream } = answer;
    const fault = upstream.faultOf(body);
    if (fault?.after === 0) return failAt(answer, fault.kind);
    const last = body.messages.at(-1);
    const begun = body.continue_final_message === true && last.role === 'assistant' ? last.content.length : 0;
    const rest = TALE.slice(begun).match(/\s*\S+/g) ?? [];
    answer.head();
    for (const [said, word] of rest.slice(0, body.max_tokens ?? rest.length).entries()) {
      if (said === fault?.after) {
        await fault.once;
        return failAt(answer, fault.kind);
      }
      answer.chunk({ content: word });
      if (said % 8 === 0) await answer.pause(0);
    }
    answer.finish();
  },
  /** What the test wrote. */
  script: async (answer) => {
    answer.head();
    answer.raw(answer.upstream.script);
    answer.response.end();
  },
  /** More than any reader takes at once. */
  flood: async (answer) => {
    answer.head();
    for (let sent = 0; sent < 16_000 && !answer.response.destroyed; sent += 1) {
      const hasRoom = answer.chunk({ content: 'x'.repeat(4_096) });
      answer.upstream.sent = sent;
      if (!hasRoom) await answer.room();
    }
    answer.finish();
  },
};

class Answer {
  constructor(upstream, request, response, body) {
    Object.assign(this, { upstream, request, response, body });
  }

  /** Resolves when its reader takes more, or is gone. */
  room() {
    const { response } = this;
    return new Promise((resolve) => {
      const settle = () => {
        response.off('drain', settle).off('close', settle);
        resolve();
      };
      response.on('drain', settle).on('close', settle);
    });
  }

  head(headers = {}) {
    if (this.response.headersSent) return;
    this.response.writeHead(200, { 'content-type': 'text/event-stream', server: 'scripted', ...headers });
    this.response.flushHeaders();
  }

  raw(text) {
    return this.response.destroyed ? false : this.response.write(text);
  }

  chunk(delta, finish = null) {
    const choice = this.isChat
      ? { index: 0, delta, finish_reason: finish }
      : { index: 0, text: delta.content ?? '', finish_reason: finish };
    return this.raw(`data: ${JSON.stringify({ id: 'x', object: 'chunk', choices: [choice] })}\n\n`);
  }

  async say(list) {
    this.head();
    for (const word of list) {
      this.chunk({ content: word });
      await this.pause(0);
    }
  }

  async whole() {
    await this.say(words);
    this.finish();
  }

  finish(reason = 'stop') {
    this.chunk({}, reason);
    const usage = {
      prompt_tokens: 5,
      completion_tokens: words.length,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 2 },
    };
    this.raw(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
    this.response.end();
  }

  reset() {
    this.request.socket.resetAndDestroy();
  }

  refuse(status, body, headers = {}) {
    this.response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
  }

  pause(ms) {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}

export class ScriptedUpstream {
  /** Names of the models that it lists; any other behaviour can be asked for all the same. */
  models = ['good'];
  owner = 'acme';
  /** Requests that are open now, and all that came. */
  running = 0;
  requests = [];
  sent = 0;
  #sockets = new WeakSet();
  /** Answers of further routes, by path. */
  pages = {};
  health = 200;
  /** What the model `script` says: the whole body. */
  script = '';
  /** How the next request for `tale` fails; null: not at all. */
  faultOf = () => null;

  async listen(port = 0) {
    this.server = createServer((request, response) => void this.#serve(request, response));
    await new Promise((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    return this;
  }

  async close() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #entry(model) {
    if (typeof model !== 'string') return model;
    return { id: model, object: 'model', owned_by: this.owner, max_model_len: 4096 };
  }

  async #serve(request, response) {
    const isKept = this.#sockets.has(request.socket);
    this.#sockets.add(request.socket);
    const text = await textOf(request);
    const { pathname } = new URL(request.url, 'http://x');
    const body = text === '' ? undefined : JSON.parse(text);
    this.requests.push({ path: pathname, headers: request.headers, body, text });
    response.on('error', () => {});
    const json = (value, status = 200) =>
      response
        .writeHead(status, { 'content-type': 'application/json', server: this.serverName ?? 'scripted' })
        .end(JSON.stringify(value));
    if (pathname in this.pages) {
      const page = this.pages[pathname];
      return typeof page === 'string'
        ? response.writeHead(200, { 'content-type': 'text/plain' }).end(page)
        : json(page);
    }
    if (pathname === '/health') return response.writeHead(this.health).end();
    if (pathname === '/v1/models')
      return json({ object: 'list', data: this.models.map((model) => this.#entry(model)) });
    if (pathname === '/v1/embeddings') return json(embeddings(body));
    if (pathname !== '/v1/chat/completions' && pathname !== '/v1/completions')
      return json({ error: { message: 'no such route' } }, 404);
    const answer = new Answer(this, request, response, body);
    answer.isKept = isKept;
    answer.isChat = pathname === '/v1/chat/completions';
    this.running += 1;
    response.once('close', () => (this.running -= 1));
    await BEHAVIOURS[body.model in BEHAVIOURS ? body.model : 'good'](answer);
  }
}

/** As wide as the model's name ends. */
function embeddings({ model, input }) {
  const width = Number(/\d+$/.exec(model)?.[0] ?? 768);
  const list = Array.isArray(input) ? input : [input];
  return {
    object: 'list',
    model,
    data: list.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: Array.from({ length: width }, (_, at) => Math.sin(text.length + at)),
    })),
    usage: { prompt_tokens: list.length * 3, total_tokens: list.length * 3 },
  };
}

async function textOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

if (process.argv[1] === import.meta.filename) {
  const args = process.argv.slice(2);
  const value = (name, otherwise) => (args.includes(name) ? args[args.indexOf(name) + 1] : otherwise);
  if (args.includes('--crash-at-start')) process.exit(3);
  const upstream = new ScriptedUpstream();
  upstream.models = args.flatMap((arg, at) => (args[at - 1] === '--model' ? [arg] : []));
  setTimeout(() => void upstream.listen(Number(value('--port', 0))), Number(value('--start-ms', 0)));
}
