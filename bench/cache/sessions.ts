/** Coding agents: one for fifty turns, and more of them than there are slots. Counted is what is evaluated. */
import { parseArgs } from 'node:util';
import { median } from '../statistics.ts';
import { text } from '../words.ts';
import { BenchHome, type Reading } from './home.ts';

const TURNS = 50;
const AGENTS = 8;
const TASKS_EACH = 4;
const SLOTS = '4';

const tools = ['read_file', 'write_file', 'run_command', 'search'].map((name, at) => ({
  type: 'function',
  function: {
    name,
    description: text(20, 900 + at),
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
}));

/** What changes in each request of an agent whose client puts a header among the words. */
const volatileLine = (turn: number): string =>
  `x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=cli; cch=${(turn * 7919) % 65_536};\n`;

/** `--url`: another server with the same model in the place of the service. */
export async function agentSession(argv: readonly string[]): Promise<void> {
  const { model, url } = optionsOf(argv);
  const server = await open(model, url, {});
  try {
    const messages: object[] = [{ role: 'user', content: text(30, 2) }];
    const readings: Reading[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const system = { role: 'system', content: `${volatileLine(turn)}${text(350, 1)}` };
      const reading = await server.ask([system, ...messages], { max_tokens: 12, tools, tool_choice: 'none' });
      readings.push(reading);
      messages.push(
        { role: 'assistant', content: reading.text },
        { role: 'user', content: text(12, 100 + turn) },
      );
    }
    report('one agent, fifty turns', readings);
    const again = evaluatedAgain(readings);
    const known = readings.reduce((sum, { prompt }) => sum + prompt, 0);
    console.log(
      `evaluated again: ${again} tokens, so ${(100 * (1 - again / known)).toFixed(2)} % of the prompts' tokens never were`,
    );
  } finally {
    await server.close();
  }
}

export async function manyAgents(argv: readonly string[]): Promise<void> {
  const { model, url } = optionsOf(argv);
  const ways: [string, Record<string, string>][] =
    url === undefined
      ? [
          ['slots only', { SVC_CACHE_RAM: '0', SVC_CACHE_DISK: '0' }],
          ['with the prompt cache', {}],
        ]
      : [[url, {}]];
  for (const [name, env] of ways) {
    const server = await open(model, url, env);
    try {
      const readings = await Promise.all(
        Array.from({ length: AGENTS }, (_, agent) => runAgent(server, agent)),
      );
      report(`${AGENTS} agents, ${AGENTS * TASKS_EACH} tasks, ${SLOTS} slots, ${name}`, readings.flat());
      // Their tasks are equal, so each agent's fair share is what all take on average.
      const whole = readings.map((tasks) => tasks.reduce((sum, { ms }) => sum + ms, 0));
      const mean = whole.reduce((sum, ms) => sum + ms, 0) / whole.length;
      console.log(`the slowest agent took ${(Math.max(...whole) / mean).toFixed(2)} of its fair share`);
    } finally {
      await server.close();
    }
  }
}

async function runAgent(server: BenchHome, agent: number): Promise<Reading[]> {
  const messages: object[] = [{ role: 'system', content: text(120, 10 + agent) }];
  const readings: Reading[] = [];
  for (let task = 0; task < TASKS_EACH; task += 1) {
    messages.push({ role: 'user', content: text(15, 1000 + agent * 100 + task) });
    const reading = await server.ask(messages, { max_tokens: 16 });
    readings.push(reading);
    messages.push({ role: 'assistant', content: reading.text });
  }
  return readings;
}

/** Beyond what is new in each turn: all that is behind the prompt and the answer before. */
function evaluatedAgain(readings: readonly Reading[]): number {
  let again = 0;
  for (const [at, { prompt, evaluated }] of readings.entries()) {
    const before = readings[at - 1];
    const isNew = prompt - (before === undefined ? 0 : before.prompt + before.written);
    again += Math.max(0, evaluated - isNew);
  }
  return again;
}

function optionsOf(argv: readonly string[]): { model: string; url: string | undefined } {
  const { values } = parseArgs({
    args: [...argv],
    options: { model: { type: 'string', default: 'bench.gguf' }, url: { type: 'string' } },
  });
  return { model: values.model, url: values.url };
}

async function open(
  model: string,
  url: string | undefined,
  env: Readonly<Record<string, string>>,
): Promise<BenchHome> {
  const home = new BenchHome({ SVC_NUM_CTX: '8192', SVC_NUM_PARALLEL: SLOTS, ...env });
  if (url !== undefined) {
    home.use(url);
  } else {
    home.install(model);
    await home.start();
  }
  await home.load();
  return home;
}

function report(name: string, readings: readonly Reading[]): void {
  const sum = (of: (reading: Reading) => number): number => readings.reduce((all, each) => all + of(each), 0);
  const prompt = sum((reading) => reading.prompt);
  const evaluated = sum((reading) => reading.evaluated);
  const times = readings.map(({ ms }) => ms);
  console.log(
    `${name}: ${prompt} prompt tokens, ${evaluated} evaluated (${((100 * (prompt - evaluated)) / prompt).toFixed(1)} % not again), from ram ${sum(({ ram }) => ram)}, disk ${sum(({ disk }) => disk)}; a request takes ${median(times).toFixed(0)} ms, the slowest ${Math.max(...times).toFixed(0)} ms, all ${(sum(({ ms }) => ms) / 1000).toFixed(1)} s`,
  );
}
