import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findFault } from './check-settings.ts';
import { EXACT_LOAD, EXACT_RULES } from './exact-rules.ts';
import { LOAD_SETTINGS } from './load-settings.ts';
import type { ModelSettings } from './shapes.ts';

const page = readFileSync(new URL('../../../docs/exact.md', import.meta.url), 'utf8');

describe('exact=on', () => {
  it('is documented by its rules, and by no others', () => {
    const rows = Object.values(EXACT_RULES).map(({ rule, because }) => `| ${rule} | ${because} |`);
    const [, table = ''] = page.split('| rule | because |\n|---|---|\n');
    expect(table.split('\n\n')[0]?.split('\n')).toEqual(rows);
  });

  it('loads as the rules say', () => {
    expect(EXACT_LOAD).toEqual({
      flashAttention: false,
      unified: false,
      repacks: false,
      wholeWindows: true,
      microBatchTokens: 64,
    });
  });

  it.each<[string, ModelSettings]>([
    ['flash_attention', { flashAttention: 'on' }],
    ['kv_type', { kvType: 'q8_0' }],
    ['kv_type_v', { kvTypeK: 'f16', kvTypeV: 'q4_0' }],
    ['draft_model', { draftModel: 'small' }],
    ['gpu_layers', { gpuLayers: 12 }],
  ])('is refused with %s as it is set, and allowed without it', (wire, settings) => {
    expect(findFault({ ...settings, exact: 'on' }, 'chat')).toMatchObject({ wire });
    expect(findFault({ ...settings, exact: 'off' }, 'chat')).toBeNull();
    expect(findFault({ exact: 'on' }, 'chat')).toBeNull();
  });

  /** Each setting with values that an exact load can have, and values that it cannot. */
  const SETTINGS: {
    readonly [K in keyof typeof LOAD_SETTINGS]: {
      readonly takes?: readonly ModelSettings[K][];
      readonly refuses?: readonly ModelSettings[K][];
    };
  } = {
    kvType: { takes: ['f16', 'f32', 'bf16'], refuses: ['q8_0', 'q4_0'] },
    kvTypeK: { takes: ['f16', 'f32', 'bf16', 'q8_0', 'q4_0'] },
    kvTypeV: { takes: ['f16', 'f32', 'bf16'], refuses: ['q8_0', 'q5_1'] },
    flashAttention: { takes: ['auto', 'off'], refuses: ['on'] },
    gpu: { takes: ['auto', 'off'] },
    gpuLayers: { takes: ['auto', 0], refuses: [1, 'all'] },
    splitMode: { takes: ['none', 'row'] },
    tensorSplit: { takes: [[1, 1]] },
    mainGpu: { takes: [1] },
    cpuMoe: { takes: ['all', 3] },
    overrideTensors: {
      takes: [[{ pattern: 'exps', buffer: 'CPU' }]],
      refuses: [
        [
          { pattern: 'attn', buffer: 'CPU' },
          { pattern: 'exps', buffer: 'CUDA0' },
        ],
      ],
    },
    loadMode: { takes: ['none', 'mmap', 'mlock'] },
    threads: { takes: [1, 64] },
    exactVectors: {},
    exact: { takes: ['on'] },
    ropeScaling: { takes: ['yarn'] },
    ropeFreqBase: { takes: [1e6] },
    ropeFreqScale: { takes: [0.25] },
    yarnOrigCtx: { takes: [4096] },
    template: { takes: ['chatml'] },
    lora: { takes: [[{ name: 'style', scale: 1 }]] },
    draftModel: { refuses: ['small'] },
    draftTokens: { takes: [0, 16] },
    toolFormat: { takes: ['auto'] },
  };
  const cases = Object.entries(SETTINGS).flatMap(([name, { takes = [], refuses = [] }]) => [
    ...takes.map((value) => [name, value, null] as const),
    ...refuses.map((value) => [name, value, 'refused'] as const),
  ]);

  it.each(cases)('with %s=%j has an answer: %s', (name, value, verdict) => {
    const fault = findFault({ [name]: value, exact: 'on' }, 'chat');
    expect(fault === null ? null : 'refused').toBe(verdict);
    if (fault === null) return;
    const { wire } = LOAD_SETTINGS[name as keyof typeof LOAD_SETTINGS];
    expect(fault.wire).toBe(wire);
    expect(fault.reason).toContain('exact=on');
    expect(fault.reason).toMatch(/; set \w+=/);
  });

  it('takes quantised keys, adapters, threads and any way of positions', () => {
    const settings: ModelSettings = {
      exact: 'on',
      kvTypeK: 'q8_0',
      lora: [{ name: 'style', scale: 1 }],
      threads: 3,
      ropeFreqScale: 0.5,
      flashAttention: 'off',
      gpu: 'off',
      gpuLayers: 'all',
    };
    expect(findFault({ ...settings, gpuLayers: 0 }, 'chat')).toBeNull();
  });
});
