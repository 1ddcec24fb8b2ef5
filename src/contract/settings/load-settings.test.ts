import { describe, expect, it } from 'vitest';
import { Check } from 'typebox/value';
import { findFault } from './check-settings.ts';
import { kvShare } from './kv-types.ts';
import { LOAD_SETTINGS } from './load-settings.ts';
import {
  inText,
  LOAD_SETTING_ROWS,
  type LoadSettingName,
  type ModelSettings,
  whyNotFrozen,
} from './shapes.ts';

/** Nothing that a setting names is opened. */
const PATHS = [
  '/etc/passwd',
  './chat.jinja',
  '~/x',
  'file:///etc/passwd',
  String.raw`C:\x`,
  '/proc/self/environ',
];

/** What people write, what is kept, and texts that are refused. */
const EXAMPLES: Readonly<Record<LoadSettingName, readonly [string, unknown, readonly string[]]>> = {
  kvType: ['q8_0', 'q8_0', ['q8', 'q6_k', 'F 16']],
  kvTypeK: ['iq4_nl', 'iq4_nl', ['int8']],
  kvTypeV: ['bf16', 'bf16', ['16']],
  flashAttention: ['off', 'off', ['yes', '1']],
  gpu: ['Vulkan0,Vulkan1', ['Vulkan0', 'Vulkan1'], ['Vulkan0,', 'a b', 'Vulkan0,Vulkan0', '../x']],
  gpuLayers: ['12', 12, ['-1', '1.5', '513', 'most']],
  splitMode: ['row', 'row', ['tensor', 'rows']],
  tensorSplit: ['3,1.5', [3, 1.5], ['0,0', '-1,2', '3;1', '1,,2']],
  mainGpu: ['1', 1, ['-1', '16', 'Vulkan0']],
  cpuMoe: ['all', 'all', ['some', '-3']],
  overrideTensors: [
    String.raw`\.ffn_up_exps\.=CPU,blk\.1\.=Vulkan0`,
    [
      { pattern: String.raw`\.ffn_up_exps\.`, buffer: 'CPU' },
      { pattern: String.raw`blk\.1\.`, buffer: 'Vulkan0' },
    ],
    ['CPU', '(=CPU', '=CPU', 'blk=', `${'x'.repeat(257)}=CPU`],
  ],
  loadMode: ['mmap+mlock', 'mmap+mlock', ['dio', 'both']],
  exactVectors: ['off', 'off', ['no', '0']],
  exact: ['on', 'on', ['auto', '1']],
  threads: ['4', 4, ['0', '1025', 'four']],
  ropeScaling: ['yarn', 'yarn', ['longrope']],
  ropeFreqBase: ['1e6', 1_000_000, ['0', '-1', 'auto', '']],
  ropeFreqScale: ['0.25', 0.25, ['0', '1/4']],
  yarnOrigCtx: ['4096', 4096, ['0', '4k']],
  template: ['alpaca', 'alpaca', ['', ' ', 'alpacca', ...PATHS, `{{ x }}${'x'.repeat(256 * 1024)}`]],
  lora: [
    'acme/style,tone=off,terse=-0.5',
    [
      { name: 'acme/style', scale: 1 },
      { name: 'tone', scale: 0 },
      { name: 'terse', scale: -0.5 },
    ],
    ['style,style', 'style=', 'style=much', 'style=101', ',', 'a=1=2'],
  ],
  draftModel: ['acme/small:q4', 'acme/small:q4', [' ', 'x'.repeat(513)]],
  draftTokens: ['0', 0, ['16', '-1']],
  toolFormat: ['hermes', 'hermes', [' ', 'hermez', ...PATHS, `{${' '.repeat(64 * 1024)}}`]],
};

describe('a load setting', () => {
  it.each(LOAD_SETTING_ROWS)('%s is read as people write it, kept, and written back', (name, row) => {
    const [text, kept] = EXAMPLES[name];
    expect(row.read(text)).toEqual(kept);
    expect(Check(row.schema, kept)).toBe(true);
    expect(inText({ [name]: kept })).toEqual([[row.wire, name === 'ropeFreqBase' ? '1000000' : text]]);
  });

  it.each(LOAD_SETTING_ROWS)('%s refuses what it cannot mean', (name, row) => {
    const [, , refused] = EXAMPLES[name];
    expect(refused.filter((text) => row.read(text) !== undefined)).toEqual([]);
  });

  it('keeps a template and a format as they are written', () => {
    const template = '{% for m in messages %}\n{{ m.content }}\n{% endfor %}\n';
    const format = '{\n  "tools": null }\n';
    expect(LOAD_SETTINGS.template.read(template)).toBe(template);
    expect(LOAD_SETTINGS.toolFormat.read(format)).toBe(format);
  });

  it('reads words whatever their case, and keeps "auto"', () => {
    expect([LOAD_SETTINGS.gpu.read('Auto'), LOAD_SETTINGS.gpuLayers.read('ALL')]).toEqual(['auto', 'all']);
  });
});

describe('settings together', () => {
  const faultOf = (settings: ModelSettings, kind: 'chat' | 'embedding' = 'chat') => findFault(settings, kind);

  it('need flash attention for quantised values, and not for quantised keys', () => {
    expect(faultOf({ kvType: 'q8_0', flashAttention: 'off' })).toEqual({
      wire: 'kv_type',
      reason: 'is q8_0, which needs flash attention; set flash_attention=auto, or kv_type_v=f16',
    });
    expect(faultOf({ kvTypeV: 'q4_0', flashAttention: 'off' })?.wire).toBe('kv_type_v');
    expect(faultOf({ kvTypeK: 'q8_0', flashAttention: 'off' })).toBeNull();
    expect(faultOf({ kvType: 'q8_0', kvTypeV: 'bf16', flashAttention: 'off' })).toBeNull();
    expect(faultOf({ kvType: 'q8_0' })).toBeNull();
  });

  it('put no layers on devices that are off', () => {
    expect(faultOf({ gpu: 'off', gpuLayers: 4 })?.wire).toBe('gpu_layers');
    expect(faultOf({ gpu: 'off', gpuLayers: 'all' })?.wire).toBe('gpu_layers');
    expect(faultOf({ gpu: 'off', gpuLayers: 0 })).toBeNull();
  });

  it('divide a model among as many devices as are named', () => {
    const gpu = ['Vulkan0', 'Vulkan1'];
    expect(faultOf({ gpu, tensorSplit: [1, 2, 3] })?.reason).toContain('the shares 1,2,3 for ');
    expect(faultOf({ gpu, mainGpu: 2 })?.wire).toBe('main_gpu');
    expect(faultOf({ gpu, tensorSplit: [1, 2], mainGpu: 1 })).toBeNull();
    expect(faultOf({ tensorSplit: [1, 2, 3] })).toBeNull();
  });

  it('of chats mean nothing to an embedding model, those of weights do', () => {
    expect(faultOf({ kvType: 'f16' }, 'embedding')).toEqual({
      wire: 'kv_type',
      reason: 'is for chat models, and this is an embedding model',
    });
    expect(faultOf({ exactVectors: 'on' })).toEqual({
      wire: 'exact_vectors',
      reason: 'is for embedding models, and this is a chat model',
    });
    expect(
      faultOf({ exactVectors: 'off', gpuLayers: 3, loadMode: 'mlock', threads: 2 }, 'embedding'),
    ).toBeNull();
  });
});

describe('the KV cache', () => {
  it('takes what its types take', () => {
    expect(kvShare({})).toBe(1);
    expect(kvShare({ kvType: 'q8_0' })).toBeCloseTo(0.53, 2);
    expect(kvShare({ kvType: 'q4_0', kvTypeK: 'f16' })).toBeCloseTo(0.64, 2);
    expect(kvShare({ kvTypeV: 'f32' })).toBe(1.5);
  });
});

describe('mode frozen-v1', () => {
  it.each(['ropeScaling', 'ropeFreqBase', 'ropeFreqScale', 'yarnOrigCtx', 'overrideTensors'] as const)(
    'is refused with %s, which changes bits',
    (name) => {
      expect(whyNotFrozen({ [name]: EXAMPLES[name][1] })).toContain(LOAD_SETTINGS[name].wire);
    },
  );

  it('is not refused with any other setting', () => {
    const others = LOAD_SETTING_ROWS.filter(([, { frozen }]) => frozen !== 'refused').map(([name]) => name);
    expect(others).toHaveLength(LOAD_SETTING_ROWS.length - 6);
    expect(others.filter((name) => whyNotFrozen({ [name]: EXAMPLES[name][1] }) !== null)).toEqual([]);
  });
});
