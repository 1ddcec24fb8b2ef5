import path from 'node:path';
import { createServer } from 'node:net';
import type { Clock } from '../../../lib/base/clock.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { isOnPath, isProgram } from '../../../lib/files/program.ts';
import { findLauncher } from '../local/child/launcher.ts';
import { DEFAULT_DEADLINES } from '../upstream/limits.ts';
import type { Upstream, UpstreamModel, UpstreamProbe } from '../upstream/ports.ts';
import { Child, childEnvironment } from './child.ts';
import { type CommandSource, fillIn } from './source.ts';
import { readdir, readFile } from 'node:fs/promises';

const LOOK_MS = 100;

export interface StartDeps {
  readonly clock: Clock;
  readonly probe: UpstreamProbe;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
}

export interface Started {
  readonly child: Child;
  readonly upstream: Upstream;
  readonly model: UpstreamModel;
  readonly capacity: number | null;
  readonly memoryBytes: number | null;
}

/** Rejects with load_failed; no process of the command is left then. */
export async function startCommand(
  deps: StartDeps,
  modelId: string,
  source: CommandSource,
  signal: AbortSignal,
): Promise<Started> {
  const { cwd, env, command } = source;
  const { PATH = '' } = childEnvironment({ hostEnv: deps.hostEnv, env });
  const [program = ''] = command;
  if (!(await isThere(program, cwd ?? process.cwd(), PATH)))
    throw failed(modelId, `there is no program ${program}`, 'check its name, or write its whole path');
  const port = await freePort();
  const launcher = await findLauncher(process.platform);
  if (signal.aborted) throw fail('cancelled');
  const words = [...launcher, ...fillIn(source, port)];
  const child = new Child({ words, cwd, env, hostEnv: deps.hostEnv, clock: deps.clock });
  try {
    const upstream = loopback(source, port);
    const capacity = await untilReady(deps, { modelId, child, upstream, startMs: source.startMs, signal });
    const model = await describeModel(deps, { modelId, upstream, source, signal });
    return { child, upstream, model, capacity, memoryBytes: await groupMemory(child.pid) };
  } catch (error) {
    await child.end();
    throw error;
  }
}

function loopback({ name, basePath, dialect, maxCalls }: CommandSource, port: number): Upstream {
  return {
    name,
    baseUrl: `http://127.0.0.1:${port}${basePath}`,
    dialect,
    privacy: 'local',
    key: async () => null,
    ca: async () => null,
    publicKey: null,
    deadlines: DEFAULT_DEADLINES,
    maxCalls,
  };
}

interface Waiting {
  readonly modelId: string;
  readonly child: Child;
  readonly upstream: Upstream;
  readonly startMs: number;
  readonly signal: AbortSignal;
}

/** A slow start is not a failure; an exit is. */
async function untilReady(
  { clock, probe }: StartDeps,
  { modelId, child, upstream, startMs, signal }: Waiting,
): Promise<number | null> {
  const untilMs = clock.monotonicMs() + startMs;
  for (;;) {
    const look = await Promise.race([probe.look(upstream, signal), child.gone]);
    if (signal.aborted) throw fail('cancelled');
    if (look === null || typeof look === 'string')
      throw failed(modelId, `its command ended (${look ?? 'as asked'})`);
    if (look.state === 'ready') return look.load.capacity;
    if (clock.monotonicMs() >= untilMs)
      throw failed(modelId, `its command did not answer within ${startMs / 1000} s`);
    await Promise.race([new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve)), child.gone]);
  }
}

async function describeModel(
  { probe }: StartDeps,
  {
    modelId,
    upstream,
    source,
    signal,
  }: Omit<Waiting, 'child' | 'startMs'> & { readonly source: CommandSource },
): Promise<UpstreamModel> {
  const models = await probe.models(upstream, signal);
  const wanted = source.model;
  const found = wanted === null ? models[0] : models.find(({ name }) => name === wanted.name);
  if (found !== undefined) return found;
  const listed = models.map(({ name }) => name).join(', ') || 'none';
  throw failed(modelId, `its command serves other models (${listed})`);
}

/**
 * Reports a mistyped program as such and not as a launcher failure. On Windows, which adds endings to names, only the
 * start itself can find it.
 */
async function isThere(program: string, cwd: string, searched: string): Promise<boolean> {
  if (process.platform === 'win32') return true;
  return program.includes('/') ? isProgram(path.resolve(cwd, program)) : isOnPath(program, searched, cwd);
}

const failed = (model: string, reason: string, remedy = 'run the command by itself to see why'): Error =>
  fail('load_failed', { model, reason, remedy });

/** Another program could take the port first; then the command exits and reports why. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}

async function groupMemory(group: number): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(pids.map((pid) => residentBytes(pid, group)));
  const sum = sizes.reduce((total, size) => total + size, 0);
  return sum === 0 ? null : sum;
}

/** 0 for a process of another group, and for one that has just exited. */
async function residentBytes(pid: string, group: number): Promise<number> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The program name in parentheses may contain anything, so fields are counted from the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[2]) !== group) return 0;
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
