import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findFault } from './check-settings.ts';
import { EXACT_LOAD, EXACT_RULES } from './exact-rules.ts';
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
