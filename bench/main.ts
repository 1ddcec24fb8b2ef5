/** The benchmarks by name; bench/README.md says what each measures and how to read it. */
import { ablation } from './ablation/ablation.ts';
import { agents } from './agents/agents.ts';
import { bare } from './bare/bare.ts';
import { boot } from './boot.ts';
import { compare } from './compare/compare.ts';
import { evaluation } from './evaluation.ts';
import { exact } from './exact/exact.ts';
import { frozen } from './frozen/frozen.ts';
import { frozenMatrix } from './frozen/frozen-matrix.ts';
import { images } from './images/images.ts';
import { joinParts } from './join-parts.ts';
import { gpu } from './gpu/gpu.ts';
import { overhead } from './overhead.ts';
import { restart } from './cache/restart.ts';
import { agentSession, manyAgents } from './cache/sessions.ts';
import { unrelated } from './cache/unrelated.ts';
import { writing } from './cache/writing.ts';
import { writeBenchModel } from './model.ts';
import { pageCost } from './page/page-cost.ts';
import { planner } from './planner/planner.ts';
import { soak } from './soak.ts';
import { steps } from './steps/steps.ts';
import { threads } from './threads/threads.ts';
import { upstream } from './upstream/upstream.ts';

const benchmarks: Readonly<Record<string, (argv: readonly string[]) => Promise<void>>> = {
  compare,
  ablation,
  bare,
  overhead,
  soak,
  boot,
  restart,
  'agent-session': agentSession,
  'many-agents': manyAgents,
  unrelated,
  writing,
  eval: evaluation,
  exact,
  frozen,
  'frozen-matrix': frozenMatrix,
  planner,
  steps,
  threads,
  upstream,
  page: pageCost,
  agents,
  model: writeBenchModel,
  gpu,
  images,
  'join-parts': joinParts,
};

export async function main(argv: readonly string[]): Promise<void> {
  const [name, ...rest] = argv;
  const benchmark = name === undefined ? undefined : benchmarks[name];
  if (!benchmark) {
    console.error(
      `usage: npm run bench -- ${Object.keys(benchmarks).join('|')} [options]; see bench/README.md`,
    );
    process.exitCode = 2;
    return;
  }
  try {
    await benchmark(rest);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    console.error(`${message.split('. ')[0]}; bench/README.md lists the options of ${name}`);
    process.exitCode = 2;
  }
}
