/**
 * Real agents on the real edge of the service, over a scripted model: each is asked for one file, is answered with the
 * call that writes it, and has to come back with the result. What the model did not say, nobody wrote.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CALL_LIMIT } from '../../src/server/api/chat/call-guard.ts';
import { type Launch, renderLaunch } from '../../src/cli/launch/render.ts';
import { writeFiles } from '../../src/cli/launch/start.ts';
import { isOnPath } from '../../src/lib/files/program.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import type { Submission } from '../../src/server/engine/ports.ts';
import { done, started, type Step, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';
import { type Agent, agents, type Call, FILE, WORDS } from './agents.ts';
import { toldIn } from './page.ts';
import { Recorder } from './record.ts';

const service = scriptedService({ unknownModelIsDefault: true });
/** More than any of them asks. */
const MOST_REQUESTS = 60;
/** A folder for fixtures of what the agents send. */
const FIXTURES = process.env['HEARTH_AGENTS_RECORD'];

interface Run {
  readonly code: number | null;
  readonly said: string;
  /** What it wrote, or why there is nothing. */
  readonly wrote: string;
  readonly jobs: readonly GenerateJob[];
}

const WAYS: Readonly<Record<string, Way>> = { 'hearth launch': launched, 'docs/agents.md': told };
const runs = Object.entries(agents).flatMap(([name, agent]) =>
  Object.entries(WAYS)
    .filter(([, way]) => (way === launched ? agent.tool : agent.page) !== undefined)
    .map(([from, way]) => ({ name, from, agent, way })),
);

describe.each(runs)('$name as $from says', async ({ name, agent, way }) => {
  const isThere = await isOnPath(agent.program, process.env['PATH']);
  it.skipIf(!isThere)('writes a file as the model says, and ends', async () => {
    const { code, said, wrote, jobs } = await run(agent, way, { name, answersOf: editing });
    expect(wrote, said).toBe(WORDS);
    expect(code, said).toBe(0);
    if ('words' in agent.edit) return;
    const results = jobs.flatMap(turnsOf).filter(({ role }) => role === 'tool');
    expect(results.length, said).toBeGreaterThan(0);
  });

  const { loop } = agent;
  it.skipIf(!isThere || loop === undefined)('ends over a model that makes one call for ever', async () => {
    const looping: Answers =
      ({ folder }) =>
      ({ job }) => {
        if (job.kind !== 'generate' || loop === undefined) return [];
        const isOffered = job.toolChoice.mode !== 'none' && job.tools.some((tool) => tool.name === loop.name);
        return isOffered ? calling(loop, folder) : [started(), text(GIVEN_UP), done()];
      };
    const { code, said, jobs } = await run(agent, way, { name: `${name}-loop`, answersOf: looping });
    expect(code, said).toBe(0);
    expect(said).toContain(GIVEN_UP);
    const results = jobs.map((job) => turnsOf(job).filter(({ role }) => role === 'tool').length);
    expect(Math.max(...results), said).toBeGreaterThanOrEqual(CALL_LIMIT);
    expect(Math.max(...results), said).toBeLessThanOrEqual(CALL_LIMIT + 2);
  });
});

const GIVEN_UP = 'There is no such file, so I stop.';

/** What the scripted model answers an agent that works in this folder. */
type Answers = (place: {
  readonly agent: Agent;
  readonly folder: string;
}) => (submission: Submission) => readonly Step[];

async function run(
  agent: Agent,
  way: Way,
  { name, answersOf }: { readonly name: string; readonly answersOf: Answers },
): Promise<Run> {
  const recorder = FIXTURES === undefined ? null : await Recorder.before(service.url);
  const top = await mkdtemp(path.join(tmpdir(), 'hearth-agent-'));
  const [home, folder] = [path.join(top, 'home'), path.join(top, 'project')];
  await Promise.all([mkdir(home), mkdir(folder)]);
  const before = service.engine.played.length;
  service.engine.plays(...Array.from({ length: MOST_REQUESTS }, () => answersOf({ agent, folder })));
  try {
    const url = recorder?.url ?? service.url;
    const launch = await way(agent, { url, home });
    const ended = await end(launch, { home, folder });
    await recorder?.write(path.join(FIXTURES ?? '', `${name}.json`));
    const wrote = await readFile(path.join(folder, FILE), 'utf8').catch(String);
    const jobs = service.engine.played.slice(before).map(({ submission }) => submission.job);
    return { ...ended, wrote, jobs: jobs.filter((job) => job.kind === 'generate') };
  } finally {
    service.engine.forgetScripts();
    await rm(top, { recursive: true, force: true });
  }
}

/** How an agent is told of the service. */
type Way = (agent: Agent, place: Pick<Place, 'url' | 'home'>) => Promise<Launch>;

async function launched(
  { tool, args, env }: Agent,
  { url, home }: Pick<Place, 'url' | 'home'>,
): Promise<Launch> {
  if (tool === undefined) throw new Error('hearth launch does not know it');
  const launch = renderLaunch(
    tool,
    {
      url,
      key: null,
      model: installed.chat,
      context: 32_768,
      folder: path.join(home, 'launch'),
      vision: false,
      certificate: null,
    },
    args,
  );
  return { ...launch, env: { ...launch.env, ...env } };
}

async function told(
  { program, page, args, env = {} }: Agent,
  { url, home }: Pick<Place, 'url' | 'home'>,
): Promise<Launch> {
  if (page === undefined) throw new Error('docs/agents.md says nothing of it');
  const block = toldIn(page.heading, { url, model: installed.chat });
  // The last line of those for a shell starts the program.
  if (page.file === undefined)
    return { program: 'sh', args: ['-c', `${block} "$@"`, program, ...args], env, files: {} };
  const file = path.join(home, page.file);
  return { program, args, env, files: { [file]: block } };
}

interface Place {
  readonly url: string;
  readonly home: string;
  /** Of the project. */
  readonly folder: string;
}

async function end(
  launch: Launch,
  { home, folder }: Pick<Place, 'home' | 'folder'>,
): Promise<Pick<Run, 'code' | 'said'>> {
  const { PATH } = process.env;
  await writeFiles(launch.files);
  const child = spawn(launch.program, launch.args, {
    cwd: folder,
    env: { PATH, HOME: home, TERM: 'dumb', NO_COLOR: '1', ...launch.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 200_000,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

/** The edit, until its result is there; short words to whatever else the agent asks. */
const editing: Answers =
  ({ agent: { edit }, folder }) =>
  ({ job }) => {
    if (job.kind !== 'generate') return [];
    if ('words' in edit) return [started(), text(edit.words), done()];
    const hasTool = job.tools.some(({ name }) => name === edit.name);
    if (!hasTool || turnsOf(job).some(({ role }) => role === 'tool'))
      return [started(), text('The file is written.'), done()];
    return calling(edit, folder);
  };

function calling({ name, input }: Call, folder: string): readonly Step[] {
  return [
    started(),
    { type: 'tool_call', name },
    { type: 'tool_arguments', text: JSON.stringify(input).replaceAll('{folder}', folder) },
    done('tool_calls'),
  ];
}

function turnsOf({ prompt }: GenerateJob) {
  return prompt.kind === 'chat' ? prompt.turns : [];
}
