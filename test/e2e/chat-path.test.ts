/** The code that one streamed chat runs in the server process stays small enough to be read. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MOST_FILES = 120;

it('a chat runs code of few files of the server', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/chat-path.mjs']);
  const files = stdout.trim().split('\n');
  expect(files).toContain('src/server/engine/scheduler/loop.js');
  expect(files.length).toBeLessThanOrEqual(MOST_FILES);
});
