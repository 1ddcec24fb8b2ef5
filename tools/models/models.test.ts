import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encodeGguf } from '../gguf/writer.ts';
import { tinyChatContent } from './tiny-chat.ts';
import { tinyEmbedContent } from './tiny-embed.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

// Evidence records name models by digest, so these change only when the model is meant to change.
describe('the generated models', () => {
  it('are the same bytes on every machine', () => {
    expect(sha256(encodeGguf(tinyChatContent()))).toBe(
      'b607f4cd7fad9c6e7b5b7d1d72c7d804a200a85e723a0825494aa1f5c9145822',
    );
    expect(sha256(encodeGguf(tinyEmbedContent()))).toBe(
      'aec110f140964d6077d13c752c6a02dec0eecf247d541d2c9ee7e1b3a5663831',
    );
  });

  it('differ when the seed differs', () => {
    expect(sha256(encodeGguf(tinyChatContent({ seed: 9 })))).not.toBe(sha256(encodeGguf(tinyChatContent())));
  });
});
