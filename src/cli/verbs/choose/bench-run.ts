import type { Config } from '../../../config/config.ts';
import type { ChatResponse } from '../../../wire/inference/chat.ts';
import type { EmbeddingResponse } from '../../../wire/inference/embeddings.ts';
import { HEADERS } from '../../../wire/headers.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk, ServerRefusal } from '../../api.ts';
import { notInstalled } from '../../terminal/answer-source.ts';
import type { BenchReport } from './bench-plot.ts';

const STREAMS = [1, 2, 4, 8];
const DECODED_TOKENS = 48;
const INPUTS = 16;
/** About a hundred tokens. */
const PASSAGE =
  'The river carries sand, leaves and small boats past the old mill, where two children count them. ';

type Measured = Pick<ChatResponse, 'usage' | 'timings'>;

export async function runBench(
  config: Config,
  model: string,
  say: (line: string) => void,
): Promise<Omit<BenchReport, 'service'>> {
  say(`Loading ${model} …`);
  const first = await callServer(config, 'POST', routes.completions.path, body(model, 'One', 1));
  const isMissing =
    first.status === 404 && (first.body as { code?: unknown } | null)?.code === 'model_not_found';
  if (isMissing) throw await notInstalled(config, model);
  expectOk(first);
  const numCtx = Number(first.headers.get(HEADERS.numCtx) ?? 0) || null;
  say('Processing a prompt …');
  const { timings } = await complete(config, body(model, `${unlike()} ${PASSAGE.repeat(8)}`, 1));
  const decode: { streams: number; tokensPerS: number | null }[] = [];
  for (const streams of STREAMS) {
    say(`Writing ${streams} ${streams === 1 ? 'answer' : 'answers at once'} …`);
    decode.push({ streams, tokensPerS: await decodeTogether(config, model, streams) });
  }
  say('Computing embeddings …');
  const embeddings = await embed(config);
  return { model, numCtx, prefillTokensPerS: timings?.prompt_per_second ?? null, decode, ...embeddings };
}

async function decodeTogether(config: Config, model: string, streams: number): Promise<number | null> {
  const answers = await Promise.all(
    Array.from({ length: streams }, (_, index) =>
      complete(config, body(model, `${unlike()} Story ${index + 1}. ${PASSAGE}`, DECODED_TOKENS, index)),
    ),
  );
  const tokens = answers.reduce((sum, { usage }) => sum + usage.completion_tokens, 0);
  const ms = Math.max(...answers.map(({ timings }) => timings?.predicted_ms ?? 0));
  return tokens > streams && ms > 0 ? Math.round((tokens * 10_000) / ms) / 10 : null;
}

async function embed(config: Config): Promise<Pick<BenchReport, 'embeddingModel' | 'embeddingsPerS'>> {
  const input = Array.from({ length: INPUTS }, () => `${unlike()} ${PASSAGE}`);
  const ask = async (texts: readonly string[]) => {
    const asked = { model: 'default-embedding', input: texts };
    return expectOk(await callServer(config, 'POST', routes.embeddings.path, asked)) as EmbeddingResponse;
  };
  try {
    const { model } = await ask(['One']);
    const started = performance.now();
    await ask(input);
    const seconds = (performance.now() - started) / 1000;
    return { embeddingModel: model, embeddingsPerS: Math.round((INPUTS * 10) / seconds) / 10 };
  } catch (error) {
    if (error instanceof ServerRefusal) return { embeddingModel: null, embeddingsPerS: null };
    throw error;
  }
}

/** Sampled, so that an answer does not repeat itself and is not drafted from its own text. */
function body(model: string, prompt: string, maxTokens: number, seed = 0): object {
  return { model, prompt, max_tokens: maxTokens, temperature: 0.8, seed };
}

async function complete(config: Config, request: object): Promise<Measured> {
  return expectOk(await callServer(config, 'POST', routes.completions.path, request)) as Measured;
}

/** Makes prompts begin differently, so that none is found in a cache. */
function unlike(): string {
  return crypto.randomUUID();
}
