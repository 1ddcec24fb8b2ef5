/** hearth run: stdout holds the answer and nothing else, whatever the model says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printableText } from '../../src/cli/context.ts';
import { Installation, type Served } from '../support/process/installation.ts';

let installation: Installation;
let served: Served;
beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve();
});
afterAll(() => installation.remove());

const settings = () => ({ SVC_PORT: served.port });

describe('hearth run', () => {
  it('prints what the service answers', async () => {
    const asked = ['run', 'default', 'Tell', 'me', '--temperature', '0', '--max-tokens', '12'];
    const { code, stdout } = await installation.run(asked, settings());
    const { body } = await served.client.post('/v1/chat/completions', {
      model: 'default',
      messages: [{ role: 'user', content: 'Tell me' }],
      temperature: 0,
      max_tokens: 12,
    });
    const { choices } = body as { choices: { message: { content: string } }[] };
    expect([code, stdout]).toEqual([0, `${choices[0]?.message.content}\n`]);
  });

  it('ends with 4 for a model that is not installed, 3 without a server, 2 for a wrong option', async () => {
    expect((await installation.run(['run', 'no-such-model', 'hi'], settings())).code).toBe(4);
    expect((await installation.run(['run', 'default', 'hi'], { SVC_PORT: '9' })).code).toBe(3);
    expect((await installation.run(['run', 'default', 'hi', '--temperature', 'x'], settings())).code).toBe(2);
  });

  it('is followed by a ps that says when the model will be unloaded', async () => {
    await installation.run(
      ['run', 'hearth-mini', 'What is Hearth?', '--temperature', '0', '--keepalive', '4h'],
      settings(),
    );
    const { stdout } = await installation.run(['ps'], settings());
    expect(stdout).toMatch(/^MODEL .* DEVICE +CONTEXT +SLOTS +THREADS +TOKENS\/S +UNLOAD\n/);
    expect(stdout).toMatch(/^hearth-mini +chat +ready +\d+ MiB +CPU +\d+ +0\/\d+ +\d+ +\d+\.\d +in 4 h$/m);
  });

  it('is followed by a stop that says whether the model was loaded', async () => {
    await installation.run(['run', 'hearth-mini', 'hi', '--max-tokens', '1'], settings());
    const stop = async () => (await installation.run(['stop', 'hearth-mini'], settings())).stderr;
    expect([await stop(), await stop()]).toEqual([
      'hearth-mini is unloaded.\n',
      'hearth-mini was not loaded.\n',
    ]);
  });

  it('lets no escape sequence of a model reach the terminal', () => {
    expect(printableText('a\n\tb\u001b]52;c;x\u0007\u009b2J\r')).toBe(
      'a\n\tb\ufffd]52;c;x\ufffd\ufffd2J\ufffd',
    );
  });
});
