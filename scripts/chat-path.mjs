/**
 * Lists the files below src/ and packages/ whose functions run in the server process for one streamed chat, by the coverage
 * of V8. The model is loaded before; `--cold` counts the load as well. Needs a build.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './prepare.mjs';

const sources = path.join(root, 'generated', 'sources');
const home = mkdtempSync(path.join(tmpdir(), 'hearth-chat-path-'));
for (const name of Object.keys(process.env)) if (name.startsWith('SVC_')) delete process.env[name];
Object.assign(process.env, { SVC_HOME: home, SVC_GPU: 'off', SVC_LOG_LEVEL: 'error' });

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const url = await serve();
if (!process.argv.includes('--cold')) await chat();
await filesRun();
await chat();
const files = await filesRun();
console.log(files.join('\n'));
console.error(`${files.length} files`);
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
process.kill(process.pid, 'SIGTERM');

/** Starts the server in this process; resolves with the address of its ready line. */
async function serve() {
  const { main } = await import(pathToFileURL(path.join(sources, 'src', 'cli', 'main.js')).href);
  const write = process.stdout.write.bind(process.stdout);
  const ready = new Promise((resolve) => {
    process.stdout.write = (text, ...rest) => {
      const found = /http:\/\/[\w.:[\]]+/.exec(String(text));
      if (found === null) return write(text, ...rest);
      process.stdout.write = write;
      resolve(found[0]);
      return true;
    };
  });
  void main(['serve', '--port', '0']);
  return ready;
}

/** Every event of one answer. */
async function chat() {
  const messages = [{ role: 'user', content: 'Say hello.' }];
  const body = { model: 'hearth-mini', messages, stream: true, max_tokens: 16 };
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  if (!text.endsWith('data: [DONE]\n\n')) throw new Error(`the chat failed: ${text.slice(-400)}`);
}

/** Files with a function that ran since this was called last. */
async function filesRun() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result.filter(({ functions }) => functions.some(({ ranges: [{ count }] }) => count > 0));
  return ran
    .map(({ url: file }) => file.replace(`${pathToFileURL(sources).href}/`, ''))
    .filter((file) => /^(src|packages)\//.test(file))
    .sort();
}
