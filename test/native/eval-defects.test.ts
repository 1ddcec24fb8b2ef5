/** hearth eval names what is wrong with a model: each kind of defect, seeded in hearth-mini, by the words of its finding. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  measureModel,
  type MeasureOptions,
  recallFacts,
  type Reference,
} from '../../src/server/api/eval/measure.ts';
import { reportOf } from '../../src/server/api/eval/report.ts';
import { runEval } from '../../src/server/api/eval/run-eval.ts';
import { importFile } from '../../src/store/install/import.ts';
import { type ParamsPatch, setParams } from '../../src/store/install/changes.ts';
import { openRegistry, type Registry } from '../../src/store/registry/registry.ts';
import { toQ2K } from '../support/coarse-quant.ts';
import {
  flipped,
  openDefects,
  type Opened,
  rebuilt,
  swapped,
  withoutWords,
  withTensor,
} from '../support/gguf-defects.ts';
import { removeFolder } from '../support/remove-folder.ts';
import { f32, text, texts, u32 } from '../../tools/gguf/metadata.ts';

const FILE = path.resolve('models/hearth-mini/model.gguf');
const DOWN = 'blk.1.ffn_down.weight';

let folder: string;
let registry: Registry;
let mini: Opened;
let reference: Reference;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-defects-'));
  registry = openRegistry({ home: path.join(folder, 'home') });
  mini = await openDefects(FILE, await readFile(FILE));
  await importFile(registry, FILE, { id: 'mini' });
  reference = await measureModel(await optionsFor('mini'));
});
afterAll(() => removeFolder(folder));

async function optionsFor(id: string): Promise<MeasureOptions> {
  const model = await registry.resolve(id, 'chat');
  return {
    worker: { env: process.env, gpu: 'off' },
    target: registry.toTarget(model, { numThreads: 1 }),
    slots: null,
    casesWithinMs: null,
    own: { requests: [], left: 0 },
    parts: { part: (_name, _shape, make) => make() },
    signal: new AbortController().signal,
    onProgress: () => {},
  };
}

interface Defect {
  readonly file?: Buffer;
  readonly settings?: ParamsPatch;
}

/** Installs the model and compares it with hearth-mini. */
async function evaluated(id: string, { file = mini.bytes, settings = {} }: Defect) {
  const source = path.join(folder, `${id}.gguf`);
  await writeFile(source, file);
  await importFile(registry, source, { id });
  await setParams(registry, id, settings);
  const [options, ours] = [await optionsFor(id), await optionsFor('mini')];
  const [model, other] = [await registry.find(id), await registry.find('mini')];
  const told: string[] = [];
  const result = await runEval({
    candidate: {
      measure: (onPredicted) => measureModel({ ...options, onPredicted }),
      recall: (tokens) => recallFacts(options, tokens),
    },
    reference: {
      measure: async () => reference,
      recall: (tokens) => recallFacts(ours, tokens),
      compare: {
        differences: () => registry.differences(model, other),
        otherTensors: () => registry.otherTensors(model, other, options.signal),
      },
    },
    onFinding: (finding) => told.push(finding),
  });
  return { report: reportOf(result), told };
}

const values = (changed: Parameters<typeof rebuilt>[1]['values']) => (): Defect => ({
  file: rebuilt(mini, changed === undefined ? {} : { values: changed }),
});

/** All matrices of whole blocks. */
function asQ2(): Buffer {
  const matrices = [...mini.tensors].filter(
    ([name, { type, shape }]) => type === 'Q8_0' && shape.startsWith('256 x') && name.startsWith('blk.'),
  );
  const tensors = matrices.map(([name, { from, bytes }]) => {
    const q2 = toQ2K(mini.bytes.subarray(from, from + bytes));
    return [name, { type: 'Q2_K', bytes: q2 }] as const;
  });
  return rebuilt(mini, { tensors: Object.fromEntries(tensors) });
}

const setting = (words: string): string => `: another setting: ${words}.`;
const damaged = (...names: string[]): RegExp =>
  new RegExp(
    String.raw`: damaged weights: ${names.length} of \d+ tensors in the same form have other values \(${names.join(', ')}\)\.$`,
  );

/** Each kind, and the words that name it. */
const DEFECTS: Readonly<Record<string, readonly [seed: () => Defect, words: string | RegExp]>> = {
  'a tensor with flipped signs': [() => ({ file: flipped(mini, DOWN) }), damaged(DOWN)],
  'a tensor of zeros': [
    () => ({ file: withTensor(mini, 'blk.2.attn_output.weight', (bytes) => bytes.fill(0)) }),
    damaged('blk.2.attn_output.weight'),
  ],
  'two tensors in each other\u2019s place': [
    () => ({ file: swapped(mini, 'blk.1.ffn_up.weight', 'blk.1.ffn_gate.weight') }),
    damaged('blk.1.ffn_gate.weight', 'blk.1.ffn_up.weight'),
  ],
  'a rotary base that is set': [
    () => ({ settings: { ropeFreqBase: 40 } }),
    setting('rope_freq_base is 40, and not set in mini'),
  ],
  'a rotary base in the file': [
    values({ 'llama.rope.freq_base': f32(40) }),
    setting('llama.rope.freq_base is 40, and 100000 in mini'),
  ],
  'positions that the file scales': [
    values({ 'llama.rope.scaling.type': text('linear'), 'llama.rope.scaling.factor': f32(16) }),
    setting(
      'llama.rope.scaling.type is "linear", and not set in mini, llama.rope.scaling.factor is 16, and not set in mini',
    ),
  ],
  'an epsilon of the norms': [
    values({ 'llama.attention.layer_norm_rms_epsilon': f32(0.5) }),
    /: another setting: llama\.attention\.layer_norm_rms_epsilon is 0\.5, and \S+ in mini\.$/,
  ],
  'other heads': [
    values({
      'llama.attention.head_count': u32(8),
      'llama.attention.head_count_kv': u32(8),
      'llama.rope.dimension_count': u32(32),
    }),
    /: another setting: llama\.attention\.head_count is 8, and 4 in mini, llama\.attention\.head_count_kv is 8, and/,
  ],
  'a template that is set': [
    () => ({ settings: { template: 'llama-2' } }),
    'another chat template (template is llama-2, and not set in mini).',
  ],
  'a template in the file': [
    values({ 'tokenizer.chat_template': text('{{ messages[0].content }}') }),
    /another chat template \(tokenizer\.chat_template is "\{\{ messages\[0\]\.content \}\}", and a text of \d+ bytes in mini\)/,
  ],
  'a truncated vocabulary': [
    () => ({ file: withoutWords(mini.bytes, 300) }),
    /^It splits \d of 9 texts into other tokens than mini.*: another vocabulary \(tokenizer\.ggml\.tokens differs from that of mini\)\.$/,
  ],
  'lost merges': [
    values({ 'tokenizer.ggml.merges': texts(['a b']) }),
    /: another vocabulary \(tokenizer\.ggml\.merges is 1 values, and \d+ values in mini\)\.$/,
  ],
  'two bits of a weight': [
    () => ({ file: asQ2() }),
    /: too coarse a quant: \d+ tensors have 2\.6 bits per weight, and 8\.5 in mini\.$/,
  ],
};

describe('a defect is named by its cause', () => {
  it.each(Object.entries(DEFECTS))('%s', async (name, [seed, words]) => {
    const id = `defect-${Object.keys(DEFECTS).indexOf(name)}`;
    const { report, told } = await evaluated(id, seed());
    expect(report.findings, report.verdict).toHaveLength(1);
    if (typeof words === 'string') expect(report.findings[0]).toContain(words);
    else expect(report.findings[0]).toMatch(words);
    // It is said before the rest is measured, and the long text is not read in vain.
    expect(told).toEqual(report.findings);
    const isOfTemplate = words.toString().includes('template');
    expect(report.needle === null).toBe(!isOfTemplate);
    expect(report.not_tried.map(({ what }) => what).includes('facts in a long text')).toBe(!isOfTemplate);
  });
});

describe('nothing is wrong', () => {
  it('with the same weights under another name, and what differs is listed', async () => {
    const file = rebuilt(mini, {
      values: { 'general.name': text('other'), 'tokenizer.ggml.eos_token_id': u32(5) },
    });
    const { report, told } = await evaluated('harmless', { file });
    expect([report.findings, told]).toEqual([[], []]);
    expect(report.verdict).toMatch(/^Answers like mini in /);
    expect(report.against?.differences).toEqual([
      expect.stringMatching(/^tokenizer\.ggml\.eos_token_id is 5, and \d+ in mini$/),
    ]);
    expect(report.needle).not.toBeNull();
  });
});
