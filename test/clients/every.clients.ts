/**
 * Unmodified clients from their registries, each against the real edge over a scripted model and against the built service
 * with its own model. The results go into docs/clients.md. `CLIENTS` names a part of them; then nothing is written.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { isOnPath } from '../../src/lib/files/program.ts';
import type { Submission } from '../../src/server/engine/ports.ts';
import { answer, done, started, type Step, vectors } from '../support/http/scripted-engine.ts';
import { startScripted, type ScriptedService } from '../support/http/scripted-service.ts';
import { Installation } from '../support/process/installation.ts';
import { type Check, CHECKS, type Client, clients } from './clients.ts';

const KEY = 'key-of-the-service';
const SOURCE = fileURLToPath(new URL('.', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/clients.md', import.meta.url));
const CACHE = process.env['CLIENTS_CACHE'] ?? path.join(tmpdir(), 'hearth-clients');
/** More requests than all clients send. */
const MOST_REQUESTS = 10_000;

const asked = process.env['CLIENTS']?.split(',');
const chosen = Object.entries(clients).filter(([name]) => asked === undefined || asked.includes(name));

interface Line {
  readonly version?: string;
  readonly check?: Check;
  readonly ok?: boolean;
  readonly detail?: string;
}

interface Outcome {
  version: string;
  readonly failed: Map<Check, string>;
}

type Targets = 'a scripted model' | 'hearth-mini';
const outcomes = new Map<string, Outcome>();
const missing: string[] = [];
let scripted: ScriptedService;
let busy: ScriptedService;
let installation: Installation;
const environments = {} as Record<Targets, NodeJS.ProcessEnv>;

beforeAll(async () => {
  await mkdir(CACHE, { recursive: true });
  scripted = await startScripted({ apiKey: KEY });
  scripted.engine.plays(...Array.from({ length: MOST_REQUESTS }, () => said));
  busy = await startScripted();
  busy.engine.full = { limit: 1, retryAfterS: 1 };
  installation = await Installation.make();
  const served = await installation.serve({ SVC_API_KEY: KEY });
  environments['a scripted model'] = { HEARTH_URL: scripted.url, HEARTH_KEY: KEY, HEARTH_BUSY_URL: busy.url };
  environments['hearth-mini'] = { HEARTH_URL: served.url, HEARTH_KEY: KEY };
});
afterAll(async () => {
  await Promise.all([scripted?.close(), busy?.close(), installation?.remove()]);
  if (asked === undefined) await writePage();
});

describe.each(chosen)('%s', async (name, client) => {
  const isThere = await isOnPath(client.toolchain, process.env['PATH']);
  if (!isThere) missing.push(`${name} (no ${client.toolchain} on PATH)`);
  const folder = path.join(CACHE, name.toLowerCase());
  beforeAll(async () => {
    if (isThere) await install(client, folder);
  });

  it.skipIf(!isThere).each(['a scripted model', 'hearth-mini'] as const)('works with %s', async (target) => {
    const lines = await run(client.run, folder, { ...environments[target], ...client.env });
    const outcome = outcomes.get(name) ?? { version: '', failed: new Map<Check, string>() };
    outcomes.set(name, outcome);
    const parsed = lines
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line);
    outcome.version = parsed.find(({ version }) => version !== undefined)?.version ?? '';
    const tried = new Map(parsed.flatMap((line) => (line.check === undefined ? [] : [[line.check, line]])));
    for (const check of CHECKS) {
      if (client.without?.[check] !== undefined || (check === '429' && target === 'hearth-mini')) continue;
      const line = tried.get(check);
      if (line?.ok !== true) outcome.failed.set(check, `${target}: ${line?.detail ?? 'it said nothing'}`);
    }
    expect([...outcome.failed], lines).toEqual([]);
  });
});

/** What every request of a client is answered with: by its tools, its format, its length. */
function said({ job }: Submission): readonly Step[] {
  if (job.kind === 'embed') return vectors(job.inputs);
  if (job.kind !== 'generate') return [fail('internal')];
  const prompt = JSON.stringify(job.prompt);
  if (prompt.length > 1_000_000)
    return [fail('context_length_exceeded', { promptTokens: 400_007, numCtx: 4096 })];
  const choice = (schema: unknown): string =>
    JSON.stringify({ colour: JSON.stringify(schema).includes('RED') ? 'RED' : 'red', sure: true });
  if (job.format.kind === 'json_schema') return answer(choice(job.format));
  const [tool] = job.tools;
  const isOver = job.prompt.kind === 'chat' && job.prompt.turns.some(({ role }) => role === 'tool');
  if (tool === undefined || isOver) return answer('Hello', ' there', '.');
  const call = JSON.stringify(tool.parameters).includes('city') ? '{"city":"Paris"}' : choice(tool);
  return [
    started(),
    { type: 'tool_call', name: tool.name },
    { type: 'tool_arguments', text: call },
    done('tool_calls'),
  ];
}

async function install(client: Client, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const command of client.install) await run(command, folder, {});
}

async function run(command: readonly string[], folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const here = (word: string): string => word.replaceAll('{source}/', SOURCE);
  const [program = '', ...args] = command.map(here);
  const own = Object.entries(env).map(([key, value]) => [key, here(value ?? '')]);
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...Object.fromEntries(own) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${err.slice(-2_000)}`);
  return out;
}

async function writePage(): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const rows = chosen.flatMap(([name, client]) => {
    const outcome = outcomes.get(name);
    if (outcome === undefined && !missing.some((each) => each.startsWith(`${name} (`)))
      missing.push(`${name} (not installed)`);
    return outcome === undefined ? [] : [row(name, client, outcome)];
  });
  const table = [
    `Run on ${new Date().toISOString().slice(0, 10)}. Not run: ${missing.join(', ') || 'none'}.`,
    '',
    `| client | version | ${CHECKS.join(' | ')} |`,
    `|---|---|${'---|'.repeat(CHECKS.length)}`,
    ...rows,
  ].join('\n');
  const marked = /(<!-- written by npm run test:clients -->\n).*?(\n<!-- end -->)/s;
  await writeFile(
    PAGE,
    page.replace(marked, (_, begin: string, end: string) => begin + table + end),
  );
}

function row(name: string, { language, without = {} }: Client, { version, failed }: Outcome): string {
  const cells = CHECKS.map((check) => without[check] ?? (failed.has(check) ? '**no**' : '✓'));
  return `| ${name} (${language}) | ${version} | ${cells.join(' | ')} |`;
}
