import { describe, expect, it } from 'vitest';
import { SETTING_GROUPS } from '../../contract/settings/load-settings.ts';
import { paramNames } from './param-names.ts';
import { PARAM_ROWS, paramText, splitLines } from './param-rows.ts';

describe('the settings of a model', () => {
  it('are all there, each with its group, a sentence, and what holds without it', () => {
    expect(PARAM_ROWS.map(({ name }) => name).toSorted()).toEqual(Object.keys(paramNames).toSorted());
    for (const { name, group, description, unset } of PARAM_ROWS) {
      expect([name, Object.hasOwn(SETTING_GROUPS, group)]).toEqual([name, true]);
      expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/)]);
      expect([name, unset === '']).toEqual([name, false]);
    }
  });

  it('have fields of their kind', () => {
    const inputOf = (wanted: string) => PARAM_ROWS.find(({ name }) => name === wanted)?.input;
    expect(inputOf('temperature')).toEqual({ kind: 'number', least: 0, most: 100, isWhole: false });
    expect(inputOf('split_mode')).toEqual({ kind: 'choice', words: ['none', 'layer', 'row'] });
    expect(inputOf('gpu_layers')).toMatchObject({ kind: 'text', words: ['auto', 'all'] });
    expect(inputOf('gpu')).toMatchObject({ kind: 'text', words: ['auto', 'off'] });
    expect(inputOf('stop')).toEqual({ kind: 'lines' });
  });

  it('are shown as they are entered', () => {
    expect(paramText('tensorSplit', [3, 1])).toBe('3,1');
    expect(paramText('stop', ['a', 'b'])).toBe('a\nb');
    expect(paramText('numCtx', 512)).toBe('512');
  });

  it('keep line breaks and backslashes within a text of several', () => {
    const texts = ['\n\n', 'a\\nb', 'END', '\\'];
    expect(splitLines(paramText('stop', texts))).toEqual(texts);
    expect(splitLines('\n')).toEqual([]);
  });
});
