/**
 * node scripts/pictures.mjs FILE.gguf: draws the pictures of the page for the docs again, with a small chat model in
 * addition to the built-in ones, in docs/images. Needs a build and Chromium; takes two minutes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { findChromium } from './page/chromium.mjs';
import { root } from './prepare.mjs';

const [model] = process.argv.slice(2);
const executablePath = findChromium();
if (model === undefined || executablePath === null) {
  console.error('Usage: node scripts/pictures.mjs FILE.gguf, on a machine with Chromium (or CHROMIUM=PATH).');
  process.exit(2);
}

const home = mkdtempSync(path.join(tmpdir(), 'hearth-pictures-'));
const env = { ...process.env, SVC_HOME: home, SVC_PORT: '0' };
const hearth = (...args) =>
  spawn(process.execPath, [path.join(root, 'bin', 'hearth.js'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** Resolves with the address of the service. */
async function addressOf(service) {
  for await (const line of createInterface({ input: service.stdout })) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('the service did not start');
}

const DAY_MS = 86_400_000;
const LOG = Array.from({ length: 12 }, (_, at) => `02:${String(at).padStart(2, '0')} step ${at % 7} ok`);
const FENCE = '```';
const ANSWER = `The job fails at step 4: two workers write the same shard, and the second gets \`EEXIST\`. Retry a shard only if its marker is missing:

${FENCE}ts
export async function retryFailed(shards: Shard[]) {
  for (const shard of shards) {
    if (await exists(\`\${shard.path}.done\`)) continue;
    await withLock(shard, () => run(shard));
  }
}
${FENCE}

With $n$ workers, the chance that two pick the same shard is

$$p = 1 - \\prod_{k=0}^{n-1}\\left(1 - \\frac{k}{m}\\right)$$`;

const conversation = (title, daysAgo, said, more = {}) => ({
  title,
  changedAt: Date.now() - daysAgo * DAY_MS,
  entries: said.map((each, at) => ({
    id: `${title} ${at}`,
    parent: at === 0 ? null : `${title} ${at - 1}`,
    role: at % 2 === 0 ? 'user' : 'assistant',
    ...each,
  })),
  lanes: [{ model: 'hearth-mini', leaf: `${title} ${said.length - 1}` }],
  ...more,
});

const CONVERSATIONS = {
  kind: 'hearth.conversations',
  version: 1,
  conversations: [
    conversation('Why the nightly job fails', 0, [
      {
        text: 'Why does the nightly job fail, and how do I retry only what failed?',
        files: [{ name: 'nightly.log', text: LOG.join('\n') }],
      },
      { text: ANSWER, finish: 'stop' },
    ]),
    conversation('Invoice fields as JSON', 0.001, [{ text: 'Which fields has this invoice?' }]),
    conversation('Release notes, second draft', 1, [{ text: 'Shorten these notes.' }]),
    conversation('Compare Q4 and Q8 on our questions', 4, [{ text: 'Compare them.' }]),
    conversation('Regex for log lines', 20, [{ text: 'A regex for these lines?' }]),
    conversation('Chapter 2, outline', 6, [{ text: 'Outline the chapter.' }], { folder: 'Thesis' }),
    conversation('Sources on caching', 9, [{ text: 'Which papers?' }], { folder: 'Thesis' }),
  ],
};

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

async function draw(page, name, { colorScheme = 'light', size = DESK } = {}) {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.setViewportSize(size);
  await page.mouse.move(size.width / 2, size.height - 1);
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 400)));
  await page.screenshot({ path: path.join(root, 'docs', 'images', `${name}.png`) });
  console.log(`docs/images/${name}.png`);
}

/** Asks as another client, so that the engine room and the requests have something to show. */
function ask(address, client, { model: asked, tokens, words }) {
  return fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Svc-Client-Id': client },
    body: JSON.stringify({
      model: asked,
      messages: [{ role: 'user', content: words }],
      max_tokens: tokens,
      stream: true,
      ignore_eos: true,
    }),
  }).then((response) => response.text());
}

async function drawChat(page, address) {
  await page.goto(`${address}/ui/`);
  await page.getByLabel('Import').setInputFiles({
    name: 'conversations.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(CONVERSATIONS)),
  });
  await page.getByRole('link', { name: 'Why the nightly job fails' }).click();
  await page.locator('.hljs-keyword').first().waitFor();
  await page.locator('math').first().waitFor();
  await page.locator('.transfer .hint').waitFor();
  await page.reload();
  await page.locator('.hljs-keyword').first().waitFor();
  await page.locator('math').first().waitFor();
  await draw(page, 'chat-light');
  await draw(page, 'chat-dark-phone', { colorScheme: 'dark', size: PHONE });
}

async function drawProof(page, address) {
  await page.goto(`${address}/ui/#/proof`);
  await page.getByRole('button', { name: 'Ask for a signed answer' }).click();
  await page.locator('.verdict .word').waitFor();
  await draw(page, 'proof-light');
}

async function drawEngine(page, address) {
  const busy = {
    model: 'gemma-270m',
    tokens: 300,
    words: 'Tell a long story of a lighthouse and its keeper.',
  };
  await ask(address, 'mail', { model: 'hearth-mini', tokens: 40, words: 'What is Hearth?' });
  await ask(address, 'editor', { ...busy, tokens: 8 });
  await page.goto(`${address}/ui/#/engine`);
  const asked = ['editor', 'notes'].map((client) =>
    ask(address, client, { ...busy, words: `${client}: ${busy.words}` }),
  );
  asked.push(ask(address, 'mail', { model: 'hearth-mini', tokens: 200, words: 'What is Hearth?' }));
  await page.locator('.generated').first().waitFor();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 6000)));
  await draw(page, 'engine-light');
  await draw(page, 'engine-dark', { colorScheme: 'dark' });
  await draw(page, 'engine-dark-phone', { colorScheme: 'dark', size: PHONE });
  await Promise.all(asked);
}

const installing = hearth('import', path.resolve(model), '--id', 'gemma-270m');
const [code] = await once(installing, 'close');
if (code !== 0) process.exit(1);
const service = hearth('serve');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const address = await addressOf(service);
  const page = await browser.newPage({ viewport: DESK, reducedMotion: 'reduce' });
  await drawChat(page, address);
  await drawProof(page, address);
  await drawEngine(page, address);
  await page.goto(`${address}/ui/#/models`);
  await page.locator('.model').nth(2).waitFor();
  await draw(page, 'models-light');
  await page.goto(`${address}/ui/#/requests`);
  await page.locator('.requests .row').nth(4).waitFor();
  await draw(page, 'requests-light');
} finally {
  await browser.close();
  service.kill('SIGTERM');
  await once(service, 'close');
  rmSync(home, { recursive: true, force: true });
}
