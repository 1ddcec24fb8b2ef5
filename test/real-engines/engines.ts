/** The engines that the suite knows, each as a user would add it; what is not on this machine is left out, and said. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemClock } from '../../src/lib/base/clock.ts';
import { freePort } from '../support/process/free-port.ts';
import { hearth, type Settings } from '../support/process/hearth.ts';
import { type ServiceProcess, startService } from '../support/process/service-process.ts';

export interface RealEngine {
  readonly name: string;
  /** Why it cannot be tried here; null: it can. */
  readonly missing: string | null;
  /** Adds it to the service under test; resolves with the id of its chat model. */
  add(
    settings: Settings,
  ): Promise<{ readonly model: string; readonly direct: Direct | null; stop(): Promise<void> }>;
  /** Checks that it cannot pass, each with the reason. */
  readonly fails: Readonly<Record<string, string>>;
}

/** The engine without Hearth before it. */
export interface Direct {
  readonly url: string;
  readonly model: string;
}

const {
  HEARTH_LLAMA_SERVER,
  HEARTH_ENGINES_PYTHON,
  HEARTH_ENGINES_GGUF,
  HEARTH_VLLM_URL,
  HEARTH_OLLAMA_URL,
} = process.env;
const NO_PYTHON = 'set HEARTH_ENGINES_PYTHON to a Python that has the package';

const XLLAMACPP = `
import sys, time, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.port, p.n_parallel, p.n_ctx, p.endpoint_metrics = sys.argv[1], int(sys.argv[2]), 4, 4096, True
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(p)
time.sleep(1e6)
`;

async function add(settings: Settings, name: string, url: string): Promise<string> {
  const { code, stdout, stderr } = await hearth(['upstream', 'add', name, url], settings);
  if (code !== 0) throw new Error(stderr);
  const models = stdout.trim().split('\n');
  return models.find((model) => /mini/.test(model)) ?? models[0] ?? '';
}

async function started(program: string, args: readonly string[], url: string): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: 'ignore' });
  for (let tries = 0; tries < 600; tries += 1) {
    const found = await fetch(`${url}/v1/models`).catch(() => null);
    if (found?.ok === true && ((await found.json()) as { data: unknown[] }).data.length > 0) return child;
    await new Promise<void>((resolve) => void systemClock.after(200, resolve));
  }
  child.kill('SIGKILL');
  throw new Error(`${program} does not answer at ${url}`);
}

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
};

/** A router before a second Hearth, and behind the one under test. */
function router(
  name: string,
  args: (worker: string, port: number, metrics: number) => readonly string[],
  fails: RealEngine['fails'],
): RealEngine {
  return {
    name,
    missing: HEARTH_ENGINES_PYTHON === undefined ? NO_PYTHON : null,
    fails,
    add: async (settings) => {
      const worker = await startService();
      // A gateway may know one model per worker, the first.
      await hearth(['rm', 'hearth-embed'], { SVC_HOME: worker.home });
      const [port, metrics] = [await freePort(), await freePort()];
      const url = `http://127.0.0.1:${port}`;
      const program = (HEARTH_ENGINES_PYTHON ?? '').replace(/python3?$/, name);
      const child = await started(program, args(worker.url, port, metrics), url);
      const model = await add(settings, name, url);
      return { model, direct: { url, model: 'hearth-mini' }, stop: () => endBoth(child, worker) };
    },
  };
}

async function endBoth(child: ChildProcess, worker: ServiceProcess): Promise<void> {
  await ended(child);
  await worker.close();
}

/** Hearth refuses what does not fit the schema, whoever wrote it. */
const LOOSE_CALLS = {
  'forced tool call':
    'vLLM 0.32.0 lets hearth-mini write a number where the schema of the tool wants an object',
};

/** The engine answers in words, and Hearth says so. */
const NO_TOOLS = {
  'forced tool call': 'the template of hearth-mini knows no tools, and llama-server then forces no call',
};

export const realEngines: readonly RealEngine[] = [
  {
    name: 'llama-server',
    missing: HEARTH_LLAMA_SERVER === undefined ? 'set HEARTH_LLAMA_SERVER to its path' : null,
    fails: NO_TOOLS,
    add: async (settings) => {
      const words = [HEARTH_LLAMA_SERVER ?? '', '-m', '{model}', '--host', '127.0.0.1', '--port', '{port}'];
      const more = ['-c', '4096', '-np', '4', '-t', '1', '--jinja', '--metrics', '--no-webui'];
      const args = ['engine', 'add', 'llama', '--model', 'hearth-mini', '--', ...words, ...more];
      const { code, stderr } = await hearth(args, settings);
      if (code !== 0) throw new Error(stderr);
      return { model: 'llama/hearth-mini', direct: null, stop: async () => {} };
    },
  },
  {
    name: 'xllamacpp',
    missing:
      HEARTH_ENGINES_PYTHON === undefined || HEARTH_ENGINES_GGUF === undefined
        ? `${NO_PYTHON}, and HEARTH_ENGINES_GGUF to a model file`
        : null,
    fails: NO_TOOLS,
    add: async (settings) => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const args = ['-c', XLLAMACPP, HEARTH_ENGINES_GGUF ?? '', String(port)];
      const child = await started(HEARTH_ENGINES_PYTHON ?? '', args, url);
      const model = await add(settings, 'xllama', url);
      return { model, direct: { url, model: model.slice('xllama/'.length) }, stop: () => ended(child) };
    },
  },
  {
    name: 'hearth',
    missing: null,
    fails: {},
    add: async (settings) => {
      const far = await startService();
      const model = await add(settings, 'far', far.url);
      return { model, direct: { url: far.url, model: 'hearth-mini' }, stop: () => far.close() };
    },
  },
  router(
    'vllm-router',
    (worker, port, metrics) => [
      '--worker-urls',
      worker,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--policy',
      'round_robin',
      '--prometheus-host',
      '127.0.0.1',
      '--prometheus-port',
      String(metrics),
    ],
    {},
  ),
  router(
    'smg',
    (worker, port, metrics) => [
      'launch',
      '--worker-urls',
      worker,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--policy',
      'round_robin',
      '--prometheus-host',
      '127.0.0.1',
      '--prometheus-port',
      String(metrics),
    ],
    { grammar: 'smg does not show that a Hearth is behind it, and OpenAI has no grammars' },
  ),
  {
    name: 'vllm',
    missing: HEARTH_VLLM_URL === undefined ? 'set HEARTH_VLLM_URL to one that runs' : null,
    fails: LOOSE_CALLS,
    add: async (settings) => {
      const url = HEARTH_VLLM_URL ?? '';
      const model = await add(settings, 'vllm', url);
      return { model, direct: { url, model: model.slice('vllm/'.length) }, stop: async () => {} };
    },
  },
  {
    name: 'ollama',
    missing: HEARTH_OLLAMA_URL === undefined ? 'set HEARTH_OLLAMA_URL to one that runs' : null,
    fails: {
      grammar: 'Ollama takes none',
      'forced tool call': 'Ollama takes no tool_choice, and hearth-mini greets back',
    },
    add: async (settings) => {
      const url = HEARTH_OLLAMA_URL ?? '';
      const model = await add(settings, 'ollama', url);
      return { model, direct: { url, model: model.slice('ollama/'.length) }, stop: async () => {} };
    },
  },
];
