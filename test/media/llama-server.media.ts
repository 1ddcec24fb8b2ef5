/** The same model, projector and image at llama-server with --mmproj: equal prompts, and the same greedy answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { PROJECTOR_FAMILIES, TEXT_MODELS, writeTinyProjector } from '../../tools/models/tiny-projector.ts';
import { dataUrl, stripes } from '../support/images.ts';
import { Eyes } from './eyes.ts';

const libraries = inject('mediaLibraries');
/** A llama-server of the same release, with libmtmd. */
const { HEARTH_LLAMA_SERVER: program } = process.env;
const QUESTION = 'What do you see here? ';
/** Two builds round differently, so that longer greedy answers of an untrained model may differ at last. */
const TOKENS = 12;

interface Opinion {
  readonly text: string;
  readonly promptTokens: number;
}

describe.skipIf(libraries === null || program === undefined).each(PROJECTOR_FAMILIES)('%s', (family) => {
  let folder: string;
  let model: string;
  let projector: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-eyes-opinion-'));
    [model, projector] = [path.join(folder, 'model.gguf'), path.join(folder, 'mmproj.gguf')];
    await TEXT_MODELS[family](model);
    await writeTinyProjector(projector, { family });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is read as llama-server reads it', async () => {
    const images = [1, 2, 3].map((seed) => stripes(50, 40, seed));
    const theirs = await llamaServer(model, projector, images);
    const eyes = await Eyes.open(libraries ?? '', {
      path: model,
      projector: { path: projector, digest: family },
    });
    const ours: Opinion[] = [];
    for (const image of images) {
      const { text, done } = await eyes.ask(`${QUESTION}#`, [image], { maxTokens: TOKENS });
      ours.push({ text, promptTokens: done?.usage.promptTokens ?? 0 });
    }
    expect(ours).toEqual(theirs);
    expect(ours[0]?.text).not.toBe('');
  });
});

async function llamaServer(model: string, projector: string, images: readonly Buffer[]): Promise<Opinion[]> {
  const port = await freePort();
  const options = ['-m', model, '--mmproj', projector, '--host', '127.0.0.1', '--port', String(port)];
  const rest = ['--jinja', '-c', '2048', '-np', '1', '-t', '1', '--no-warmup'];
  const child = spawn(program ?? '', [...options, ...rest], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  try {
    await ready(child.stderr);
    const opinions: Opinion[] = [];
    for (const image of images) opinions.push(await ask(`http://127.0.0.1:${port}`, image));
    return opinions;
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

function ready(log: NodeJS.ReadableStream): Promise<void> {
  let text = '';
  return new Promise((resolve, reject) => {
    log.on('data', (part) => {
      text += String(part);
      if (text.includes('listening on http')) resolve();
    });
    log.on('end', () => reject(new Error(`llama-server ended: ${text.slice(-1000)}`)));
  });
}

async function ask(url: string, image: Buffer): Promise<Opinion> {
  const content = [
    { type: 'text', text: QUESTION },
    { type: 'image_url', image_url: { url: dataUrl(image) } },
  ];
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content }], temperature: 0, max_tokens: TOKENS }),
  });
  const body = (await response.json()) as {
    readonly choices: readonly [{ readonly message: { readonly content: string } }];
    readonly usage: { readonly prompt_tokens: number };
  };
  return { text: body.choices[0].message.content, promptTokens: body.usage.prompt_tokens };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
