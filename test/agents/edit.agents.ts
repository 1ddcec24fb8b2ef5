/**
 * Real agents on the real edge of the service, over a scripted model: each is asked for one file, is answered with the
 * call that writes it, and has to come back with the result. What the model did not say, nobody wrote.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { launchOf } from '../../src/cli/launch/render.ts';
import { isOnPath } from '../../src/cli/launch/start.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import type { Submission } from '../../src/engine/ports.ts';
import { done, started, type Step, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';
import { type Agent, agents, FILE, WORDS } from './agents.ts';
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

describe.each(Object.entries(agents))('%s', async (name, agent) => {
  const isThere = await isOnPath(agent.tool.program, process.env['PATH']);
  it.skipIf(!isThere)('writes a file as the model says, and ends', async () => {
    const { code, said, wrote, jobs } = await run(agent, name);
    expect(wrote, said).toBe(WORDS);
    expect(code, said).toBe(0);
    if ('words' in agent.edit) return;
    const results = jobs.flatMap(turnsOf).filter(({ role }) => role === 'tool');
    expect(results.length, said).toBeGreaterThan(0);
  });
});

async function run(agent: Agent, name: string): Promise<Run> {
  const recorder = FIXTURES === undefined ? null : await Recorder.before(service.url);
  const top = await mkdtemp(path.join(tmpdir(), 'hearth-agent-'));
  const [home, folder] = [path.join(top, 'home'), path.join(top, 'project')];
  await Promise.all([mkdir(home), mkdir(folder)]);
  const before = service.engine.played.length;
  service.engine.plays(...Array.from({ length: MOST_REQUESTS }, () => answersOf(agent, folder)));
  try {
    const url = recorder?.url ?? service.url;
    for (const [file, content] of Object.entries(agent.home ?? {}))
      await writeFile(path.join(home, file), content.replaceAll('{url}', url));
    const ended = await end(agent, { url, home, folder });
    await recorder?.write(path.join(FIXTURES ?? '', `${name}.json`));
    const wrote = await readFile(path.join(folder, FILE), 'utf8').catch(String);
    const jobs = service.engine.played.slice(before).map(({ submission }) => submission.job);
    return { ...ended, wrote, jobs: jobs.filter((job) => job.kind === 'generate') };
  } finally {
    service.engine.forgetScripts();
    await rm(top, { recursive: true, force: true });
  }
}

interface Place {
  readonly url: string;
  readonly home: string;
  /** Of the project. */
  readonly folder: string;
}

async function end(agent: Agent, { url, home, folder }: Place): Promise<Pick<Run, 'code' | 'said'>> {
  const facts = { url, key: null, model: installed.chat, context: 32_768 };
  const args = agent.args.map((arg) => arg.replaceAll('{home}', home));
  const launch = launchOf(agent.tool, facts, args);
  const { PATH } = process.env;
  const child = spawn(launch.program, launch.args, {
    cwd: folder,
    env: { PATH, HOME: home, TERM: 'dumb', NO_COLOR: '1', ...launch.env, ...agent.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 200_000,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

/** The edit, until its result is there; short words to whatever else the agent asks. */
function answersOf({ edit }: Agent, folder: string): (submission: Submission) => readonly Step[] {
  return ({ job }) => {
    if (job.kind !== 'generate') return [];
    if ('words' in edit) return [started(), text(edit.words), done()];
    const hasTool = job.tools.some(({ name }) => name === edit.name);
    if (!hasTool || turnsOf(job).some(({ role }) => role === 'tool'))
      return [started(), text('The file is written.'), done()];
    const json = JSON.stringify(edit.input).replaceAll('{folder}', folder);
    return [
      started(),
      { type: 'tool_call', name: edit.name },
      { type: 'tool_arguments', text: json },
      done('tool_calls'),
    ];
  };
}

function turnsOf({ prompt }: GenerateJob) {
  return prompt.kind === 'chat' ? prompt.turns : [];
}
