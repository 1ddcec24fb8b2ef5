/**
 * bench/page owns the cost of the page while somebody looks at the engine room: what four streams lose by it, what the server
 * spends on it, and how soon it is painted. It knows nothing of how the page is made. Needs Chromium, and a machine with Linux.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { type Side } from '../client/side.ts';
import { streamChat } from '../client/stream.ts';
import { processorMs } from '../process-memory.ts';
import { serve } from '../served.ts';
import { median, rounded } from '../statistics.ts';
import { text } from '../words.ts';

const PORT = 18_790;
const STREAMS = 4;
/** Who looks: nobody, a program that reads the events, a browser with the page. */
const READERS = ['nobody', 'events', 'page'] as const;
type Reader = (typeof READERS)[number];

interface Phase {
  readonly reader: Reader;
  readonly tokensPerS: number;
  /** Of one core, by the server process. */
  readonly serverShare: number;
}

export async function pageCost(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string' },
      tokens: { type: 'string', default: '300' },
      rounds: { type: 'string', default: '6' },
      threads: { type: 'string', default: '1' },
    },
  });
  const home = mkdtempSync(path.join(tmpdir(), 'hearth-bench-'));
  if (values.model !== undefined) importModel(home, values.model);
  const served = await serve(PORT, {
    SVC_HOME: home,
    SVC_NUM_THREADS: values.threads,
    SVC_NUM_PARALLEL: '4',
  });
  const browser = await startBrowser();
  try {
    const side = {
      name: 'hearth',
      url: served.url,
      model: values.model === undefined ? 'default' : 'bench',
      extra: { ignore_eos: true },
    };
    const tokens = Number(values.tokens);
    await decode(side, tokens);
    console.log(`idle, nobody looks: ${share(await idleShare())} of a core`);
    const phases: Phase[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const order = round % 2 === 0 ? READERS : READERS.toReversed();
      for (const reader of order) phases.push(await phase(reader, { side, tokens, browser }));
    }
    report(phases);
    await firstPaints(browser, served.url);
    reportSize();
  } finally {
    await browser.close();
    await served.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function importModel(home: string, file: string): void {
  const bin = path.resolve('bin', 'hearth.js');
  const env = { ...process.env, SVC_HOME: home };
  const { status, stderr } = spawnSync(process.execPath, [bin, 'import', file, '--id', 'bench'], { env });
  if (status !== 0) throw new Error(String(stderr));
}

async function startBrowser(): Promise<Browser> {
  const { findChromium } = (await import(path.resolve('scripts/page/chromium.mjs'))) as {
    findChromium: () => string | null;
  };
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('there is no Chromium; name one in CHROMIUM');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

interface PhaseParts {
  readonly side: Side;
  readonly tokens: number;
  readonly browser: Browser;
}

async function phase(reader: Reader, { side, tokens, browser }: PhaseParts): Promise<Phase> {
  const leave = await look(reader, side.url, browser);
  const before = processorMs(PORT);
  const begin = performance.now();
  const tokensPerS = await decode(side, tokens);
  const serverShare = (processorMs(PORT) - before) / (performance.now() - begin);
  await leave();
  return { reader, tokensPerS, serverShare };
}

/** Begins to look, and waits until what is looked at has come. */
async function look(reader: Reader, url: string, browser: Browser): Promise<() => Promise<void>> {
  if (reader === 'nobody') return async () => {};
  if (reader === 'events') {
    const abort = new AbortController();
    const response = await fetch(`${url}/svc/events`, { signal: abort.signal });
    const stream = response.body?.getReader();
    await stream?.read();
    const rest = (async () => {
      while ((await stream?.read())?.done === false);
    })().catch(() => undefined);
    return async () => {
      abort.abort();
      await rest;
    };
  }
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${url}/ui/#/engine`);
  await page.locator('.model-lanes').first().waitFor();
  return () => page.close();
}

/** Tokens per second of all streams together, from the moment when all decode to the first end. */
async function decode(side: Side, tokens: number): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: STREAMS }, (_, at) =>
      streamChat(side, [{ role: 'user', content: text(8, at) }], { maxTokens: tokens }),
    ),
  );
  const begin = Math.max(...answers.map(({ arrivalsMs }) => arrivalsMs[0] ?? 0));
  const end = Math.min(...answers.map(({ arrivalsMs }) => arrivalsMs.at(-1) ?? 0));
  const rates = answers.map(({ arrivalsMs, tokens: all }) => {
    const [first = 0, last = 1] = [arrivalsMs[0], arrivalsMs.at(-1)];
    return (1000 * (all - 1)) / (last - first);
  });
  if (end <= begin) throw new Error('the streams did not run together; ask for more tokens');
  return rates.reduce((sum, rate) => sum + rate, 0);
}

async function idleShare(): Promise<number> {
  const spanMs = 10_000;
  // What the last answers left is over.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const before = processorMs(PORT);
  await new Promise((resolve) => setTimeout(resolve, spanMs));
  return (processorMs(PORT) - before) / spanMs;
}

function report(phases: readonly Phase[]): void {
  const of = (reader: Reader, pick: (phase: Phase) => number): number =>
    median(phases.filter((each) => each.reader === reader).map(pick));
  const alone = of('nobody', ({ tokensPerS }) => tokensPerS);
  const quiet = of('nobody', ({ serverShare }) => serverShare);
  for (const reader of READERS) {
    const rate = of(reader, ({ tokensPerS }) => tokensPerS);
    const spent = of(reader, ({ serverShare }) => serverShare);
    console.log(
      `${reader}: ${rounded(rate)} tok/s of ${STREAMS} streams (${rounded(rate / alone)}), server ${share(spent)} of a core (${share(spent - quiet)} more)`,
    );
  }
}

async function firstPaints(browser: Browser, url: string): Promise<void> {
  const paints: number[] = [];
  for (let visit = 0; visit < 10; visit += 1) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${url}/ui/`);
    await page.locator('main h1').waitFor({ state: 'attached' });
    const paint = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    );
    paints.push(paint);
    await context.close();
  }
  console.log(
    `first paint, nothing cached: median ${rounded(median(paints))} ms, worst ${rounded(Math.max(...paints))} ms of ${paints.length}`,
  );
}

function reportSize(): void {
  const files = readdirSync('dist/ui').filter((name) => name.endsWith('.gz'));
  const bytes = files.reduce((sum, name) => sum + statSync(path.join('dist/ui', name)).size, 0);
  console.log(`size: ${rounded(bytes / 1000)} kB compressed, all views`);
}

const share = (value: number): string => `${(100 * value).toFixed(1)} %`;
