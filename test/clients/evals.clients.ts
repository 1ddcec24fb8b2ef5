/** Programs that evaluate models, unmodified and from PyPI, against the built service with its own model. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOnPath } from '../../src/lib/files/program.ts';
import { Installation } from '../support/process/installation.ts';

const SOURCE = fileURLToPath(new URL('evals', import.meta.url));
const CACHE = path.join(process.env['CLIENTS_CACHE'] ?? path.join(tmpdir(), 'hearth-clients'), 'evals');
const bin = (name: string): string => path.join(CACHE, 'venv', 'bin', name);

const isThere = await isOnPath('python3', process.env['PATH']);
let installation: Installation;
let url: string;
let results: string;

beforeAll(async () => {
  if (!isThere) return;
  await mkdir(CACHE, { recursive: true });
  await run('python3', ['-m', 'venv', 'venv'], CACHE);
  await run(bin('pip'), ['install', '--quiet', '--upgrade', 'lm-eval[api]', 'inspect-ai', 'openai'], CACHE);
  installation = await Installation.make();
  ({ url } = await installation.serve({}));
  results = await mkdtemp(path.join(tmpdir(), 'hearth-evals-'));
});
afterAll(async () => {
  await Promise.all([installation?.remove(), results && rm(results, { recursive: true })]);
});

describe.skipIf(!isThere)('lm-eval', () => {
  it('scores multiple choice above chance, with the tokens of the service', async () => {
    const { copies } = await evaluate('local-completions', 'copies', '/v1/completions', [
      '--batch_size',
      '8',
    ]);
    // Chance is a third.
    expect(copies?.['acc,none']).toBeGreaterThanOrEqual(0.9);
  });

  it('generates through the chat route', async () => {
    const asChat = ['--apply_chat_template'];
    const { says } = await evaluate('local-chat-completions', 'says', '/v1/chat/completions', asChat);
    expect(says?.['exact_match,none']).toBeGreaterThanOrEqual(0);
  });
});

describe.skipIf(!isThere)('inspect-ai', () => {
  it('gets an answer to each sample', async () => {
    const task = ['says_task.py', '--model', 'openai-api/hearth/hearth-mini'];
    const options = ['--log-dir', results, '--log-format', 'json', '--display', 'plain'];
    const env = { HEARTH_API_KEY: 'none', HEARTH_BASE_URL: `${url}/v1` };
    await run(bin('inspect'), ['eval', ...task, ...options], SOURCE, env);
    const log = (await readdir(results)).find((name) => name.endsWith('.json')) ?? '';
    const { status, samples } = JSON.parse(await readFile(path.join(results, log), 'utf8'));
    expect([status, samples.length]).toEqual(['success', 2]);
    for (const { output } of samples) expect(output.usage.output_tokens).toBeGreaterThan(0);
  });
});

describe.skipIf(!isThere)('decisions of openai-python', () => {
  it('have an answer to each question', async () => {
    const env = { HEARTH_URL: url, HEARTH_KEY: 'none' };
    const told = JSON.parse(await run(bin('python'), [path.join(SOURCE, 'decide.py')], results, env));
    expect(told).toMatchObject({
      types: ['predicate', 'choice', 'score'],
      names: ['truth', 'place', 'mood'],
      sums: [expect.closeTo(1, 9), expect.closeTo(1, 9)],
      values: ['garden', 'engine', true],
      output: 0,
    });
    expect(told.cached).toBeGreaterThan(0);
  });
});

type Results = Readonly<Record<string, Readonly<Record<string, number>>>>;

async function evaluate(
  model: string,
  task: string,
  route: string,
  more: readonly string[],
): Promise<Results> {
  const args = `model=default,base_url=${url}${route}`;
  const words = ['--model', model, '--model_args', args, '--tasks', task, '--include_path', '.', ...more];
  const folder = path.join(results, task);
  const offline = { HF_HUB_OFFLINE: '1', HF_DATASETS_OFFLINE: '1' };
  await run(bin('lm_eval'), [...words, '--output_path', folder], SOURCE, offline);
  const files = await readdir(folder, { recursive: true });
  const found = files.find((name) => path.basename(name).startsWith('results')) ?? '';
  return JSON.parse(await readFile(path.join(folder, found), 'utf8')).results;
}

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${(out + err).slice(-3_000)}`);
  return out;
}
