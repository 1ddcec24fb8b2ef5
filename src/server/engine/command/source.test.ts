import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fillIn } from './source.ts';

it('what stands for port and model is filled in as it is, whatever characters it has', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('$&', '$$', '$1', "$'", '{port}', '{model}', 'a/$&/{port}'),
  );
  fc.assert(
    fc.property(word, fc.nat(65_535), (modelWord, port) => {
      const command = ['serve', '--at={port}', '-m', '{model}', '{model}:{port}'];
      expect(fillIn({ command, modelWord }, port)).toEqual([
        'serve',
        `--at=${port}`,
        '-m',
        modelWord,
        `${modelWord}:${port}`,
      ]);
    }),
  );
});
