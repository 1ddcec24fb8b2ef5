/**
 * A session of a coding agent, request by request through the compiled service and the real engine: what is reused from
 * turn to turn, and what is told where nothing is.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hearth } from '../support/process/hearth.ts';
import { HttpClient, type Reply } from '../support/http/http-client.ts';
import { type ServiceProcess, startService } from '../support/process/service-process.ts';
import { template } from '../support/templates.ts';

interface Message {
  readonly role: string;
  readonly content: string;
}

const { tools, messages } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../fixtures/sessions/coding-agent.json', import.meta.url)), 'utf8'),
) as { readonly tools: readonly object[]; readonly messages: readonly Message[] };

let service: ServiceProcess;
let client: HttpClient;

beforeAll(async () => {
  // Of the tiers below the slots nothing is to be seen here.
  const settings = { SVC_NUM_PARALLEL: '2', SVC_NUM_CTX: '4096', SVC_CACHE_RAM: '0', SVC_CACHE_DISK: '0' };
  service = await startService({ chatTemplate: template('hermes'), contextLength: 8192 }, settings);
  client = new HttpClient(service.url);
});
afterAll(() => service.close());

/** A request for each turn of the agent: all that was said before it. */
const turns = messages.flatMap(({ role }, at) => (role === 'user' || role === 'tool' ? [at + 1] : []));

interface Change {
  readonly system?: (content: string) => string;
  readonly tools?: readonly object[];
  readonly fields?: object;
  readonly program?: string;
  readonly dryRun?: boolean;
}

/** The next answer is not asked for: what the agent got is in the session. */
function ask(length: number, change: Change = {}): Promise<Reply> {
  const { system = (content) => content, program = 'agent', dryRun = false } = change;
  const said = messages
    .slice(0, length)
    .map((message) =>
      message.role === 'system' ? { ...message, content: system(message.content) } : message,
    );
  const body = {
    model: service.model,
    messages: said,
    tools: change.tools ?? tools,
    max_tokens: 0,
    ...change.fields,
  };
  const path = `/v1/chat/completions${dryRun ? '?svc_dry_run=1' : ''}`;
  return client.post(path, body, { 'x-svc-client-id': program });
}

const cacheOf = ({ body }: Reply) => body.timings.cache;
const why = async (reply: Reply): Promise<Record<string, unknown>> => {
  const { body } = await client.get(`/svc/cache/why/${reply.headers['x-request-id']}`);
  return body;
};

describe('a session', () => {
  it('is never evaluated twice, although a line of its system prompt changes at each turn', async () => {
    let before = 0;
    for (const [turn, length] of turns.entries()) {
      const line = `x-anthropic-billing-header: cc_version=2.1; cch=${turn}f${turn};`;
      const reply = await ask(length, { system: (content) => `${line}\n${content}` });
      expect(reply.headers['x-svc-rewritten']).toBe('x-anthropic-billing-header=dropped');
      const { prompt_tokens: tokens, prompt_tokens_details: details } = reply.body.usage;
      const { slot, ram, disk, evaluated } = cacheOf(reply);
      expect([slot + ram + disk, evaluated]).toEqual([details.cached_tokens, tokens - details.cached_tokens]);
      // The opening of the next answer gives way to the words that came instead.
      if (turn > 0) expect(evaluated).toBeLessThanOrEqual(tokens - before + 16);
      before = tokens;
      expect(await why(reply)).toMatchObject({
        reason: turn === 0 ? 'cold' : 'continued',
        difference: null,
      });
    }
  });

  it('is told where a time in its system prompt spoils it, at each turn', async () => {
    const clock = (turn: number) => (content: string) => `Time: 2026-11-23T09:0${turn}:30Z\n${content}`;
    const replies: Reply[] = [];
    for (const [turn, length] of turns.entries())
      replies.push(await ask(length, { system: clock(turn), program: 'clock' }));
    const last = replies.at(-1);
    if (last === undefined) throw new Error('a session has turns');
    expect(cacheOf(last).evaluated).toBeGreaterThan(1000);
    expect(await why(last)).toMatchObject({
      reason: 'differs',
      difference: { shared: expect.stringMatching(/Time: 2026-11-23T09:0$/) },
    });
    const { code, stdout } = await hearth(['cache', 'why', String(last.headers['x-request-id'])], {
      SVC_PORT: new URL(service.url).port,
    });
    expect(code).toBe(0);
    expect(stdout).toContain('[differs]');
    expect(stdout).toMatch(/before: "\d:30Z/);
    expect(stdout).toContain('times in the last message');
  });

  it('is told beforehand that other tools, or their order, will cost all of it', async () => {
    await ask(4);
    const reordered = await ask(6, { tools: tools.toReversed(), dryRun: true });
    expect(reordered.body).toMatchObject({ object: 'svc.dry_run', rewritten: [] });
    expect(reordered.body.difference.now).toContain('un_command');
    expect(reordered.body.cached_tokens).toBe(reordered.body.difference.token);
    expect((await ask(6, { dryRun: true })).body.difference).toBeNull();

    expect((await why(await ask(6, { tools: tools.toReversed() })))['reason']).toBe('differs');
  });

  it('is told when others took its place, and when the model was loaded anew', async () => {
    await ask(6);
    for (const name of ['one', 'two', 'three']) {
      const other = [{ role: 'user', content: `Another program, ${name}. `.repeat(90) }];
      await ask(6, { fields: { messages: other, tools: [] } });
    }
    expect(await why(await ask(8))).toMatchObject({ reason: 'evicted' });
    expect(await why(await ask(10, { fields: { num_ctx: 8192 } }))).toMatchObject({
      reason: 'cold',
    });
  });

  it('keeps its report from whoever does not know its id', async () => {
    const unknown = await client.get('/svc/cache/why/req_nobody');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'cache_report_not_found']);
    const { code, stderr } = await hearth(['cache', 'why', 'req_nobody'], {
      SVC_PORT: new URL(service.url).port,
    });
    expect([code, stderr]).toEqual([4, expect.stringContaining('req_nobody')]);
  });
});
