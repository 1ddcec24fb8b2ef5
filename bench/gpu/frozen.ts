/** frozen-v1 where a GPU is: what a model with layers on it answers, and one kept on the CPU with its replay. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { asking } from '../compare/scenario.ts';
import { text } from '../words.ts';
import { askOnce } from './ask.ts';
import type { Bench, BenchModel } from './bench.ts';
import type { Cells } from './report.ts';
import { memoryCells, residency } from './residency.ts';
import type { Sheet } from './run-steps.ts';

const TOKENS = 32;

export async function frozen(bench: Bench, model: BenchModel, { rows, signal }: Sheet): Promise<void> {
  const { hearth } = bench;
  await hearth.ensure();
  rows.push({ what: 'greedy answers as the load is', result: await distinctGreedy(bench, model, signal) });
  const asLoaded = await frozenAnswer(bench, model, signal);
  rows.push({
    what: 'frozen-v1 as the load is',
    result: asLoaded.said,
    ...memoryCells(await residency(bench, model)),
  });
  if (asLoaded.file !== null) rows.push(await replayed(bench, asLoaded.file, 'its replay'));
  await hearth.mustRun('set', model.id, 'gpu=off');
  await hearth.verb('stop', model.id);
  try {
    const onCpu = await frozenAnswer(bench, model, signal);
    rows.push({
      what: 'frozen-v1 with gpu=off',
      result: onCpu.said,
      ...memoryCells(await residency(bench, model)),
    });
    if (onCpu.file !== null) {
      rows.push(await replayed(bench, onCpu.file, 'its replay'));
      rows.push(await replayed(bench, onCpu.file, 'its cheap replay', '--cheap'));
    }
  } finally {
    await hearth.verb('set', model.id, 'gpu=');
    await hearth.verb('stop', model.id);
  }
}

async function frozenAnswer({ hearth, out }: Bench, { id }: BenchModel, signal: AbortSignal) {
  const body = JSON.stringify({ model: id, messages: asking(text(60, 77)), max_tokens: TOKENS });
  const begin = performance.now();
  const response = await fetch(`${hearth.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-evidence-mode': 'frozen-v1' },
    body,
    signal,
  });
  const answer = await response.text();
  if (!response.ok) return { said: `${response.status} ${answer}`, file: null };
  const file = path.join(out, 'frozen-response.json');
  writeFileSync(file, answer);
  writeFileSync(requestOf(file), body);
  const { evidence } = JSON.parse(answer) as { readonly evidence?: object };
  const kind = evidence === undefined ? 'without a record' : 'with its record';
  return { said: `answered in ${Math.round(performance.now() - begin)} ms, ${kind}`, file };
}

const requestOf = (file: string): string => `${file}.request`;

async function replayed({ hearth }: Bench, file: string, what: string, how = '--replay'): Promise<Cells> {
  const begin = performance.now();
  const words = ['evidence', 'verify', file, '--request', requestOf(file), how, '--json'];
  const { code, out, err } = await hearth.verb(...words);
  const took = `exit code ${code} after ${Math.round(performance.now() - begin)} ms`;
  return { what, result: code === 0 ? took : `${took}: ${(err || out).slice(0, 400)}` };
}

/** Whether a greedy answer depends on what else the card computes. */
async function distinctGreedy({ hearth }: Bench, { id }: BenchModel, signal: AbortSignal): Promise<string> {
  const side = { name: 'hearth', url: hearth.url, model: id, extra: { temperature: 0, seed: 1 } };
  const ask = () => askOnce(side, { words: 60, seed: 78, tokens: TOKENS, signal });
  const alone: string[] = [];
  for (let at = 0; at < 3; at += 1) alone.push((await ask()).content);
  const beside = await Promise.all(Array.from({ length: 8 }, ask));
  const counted = (texts: readonly string[]): number => new Set(texts).size;
  const all = [...alone, ...beside.map(({ content }) => content)];
  return `${counted(alone)} different of 3 one by one, ${counted(all)} of all ${all.length} with 8 at once`;
}
