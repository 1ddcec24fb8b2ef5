import { expect, it } from 'vitest';
import { framesOf } from './frames.ts';

/** Each piece when it is asked for, then a broken connection. */
function brokenAfter(...pieces: string[]): Response {
  const bytes = pieces.map((piece) => new TextEncoder().encode(piece));
  return new Response(
    new ReadableStream(
      {
        pull(controller) {
          const next = bytes.shift();
          if (next === undefined) controller.error(new TypeError('network error'));
          else controller.enqueue(next);
        },
      },
      { highWaterMark: 0 },
    ),
  );
}

it('hands out the last event before a broken connection, however slowly it is read', async () => {
  const got: string[] = [];
  const read = async () => {
    for await (const { data } of framesOf(
      brokenAfter('data: 1\n\n', 'data: 2\n\ndata: 3\n\n', 'data: 4\n\ndata: why\n\n'),
    )) {
      got.push(data);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await expect(read()).rejects.toThrow('network error');
  expect(got).toEqual(['1', '2', '3', '4', 'why']);
});
