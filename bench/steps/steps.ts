/** What a worker does between two native calls, in processor time, which a busy machine hardly changes. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { childEnvironment } from '../../src/server/engine/local/child/child-environment.ts';
import { quantile, rounded } from '../statistics.ts';
import type { Answer, Question } from './child.ts';

/** Between an answer's messages, those of the outbox. */
type Message = { readonly type: 'answer'; readonly gaps: Answer } | { readonly type: 'events' };

export async function steps(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string', default: 'models/hearth-mini/model.gguf' },
      tokens: { type: 'string', default: '200' },
      streams: { type: 'string', default: '1,2,4,8' },
      drafts: { type: 'string', default: '0' },
    },
  });
  const child = fork(
    fileURLToPath(new URL('./child.js', import.meta.url)),
    [path.resolve(values.model), values.drafts],
    {
      env: childEnvironment(process.env, { gpu: 'off' }, process.platform),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  );
  const gone = once(child, 'exit');
  const ended = gone.then(([code]): never => {
    throw new Error(`the process with the batch loop ended with ${code}`);
  });
  const ask = async (question: Question): Promise<Answer> => {
    child.send(question);
    for (;;) {
      const [message] = (await Promise.race([once(child, 'message'), ended])) as [Message];
      if (message.type === 'answer') return message.gaps;
    }
  };
  // The first answers compile the code.
  await ask({ streams: 2, tokens: Number(values.tokens) });
  console.log('| streams | ms between two calls, p10 | p50 | p90 | per token |\n|---|---|---|---|---|');
  for (const streams of values.streams.split(',').map(Number)) {
    const gaps = await ask({ streams, tokens: Number(values.tokens) });
    const perToken = gaps.reduce((sum, ms) => sum + ms, 0) / (streams * Number(values.tokens));
    const cells = [...[0.1, 0.5, 0.9].map((part) => quantile(gaps, part)), perToken].map(rounded);
    console.log(`| ${streams} | ${cells.join(' | ')} |`);
  }
  child.disconnect();
  await gone;
}
