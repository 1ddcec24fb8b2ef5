/**
 * contract/tools owns how the tools of a job cross: as one text, because agents send the same with every turn, and an equal
 * text is read only once. It knows nothing of what a tool is for.
 */
import { Type } from '#typebox';
import { Check } from '#typebox/value';
import { oncePer } from '../../lib/base/recent/once-per.ts';
import { RecentTexts } from '../../lib/base/recent/recent-texts.ts';
import { parseSpelled } from '../../lib/json/parse-spelled.ts';
import { writeJson } from '../../lib/json/spelled-numbers.ts';
import { type ExplainJob, type GenerateJob, type Job, ToolDefinition } from '../job.ts';

const Tools = Type.Array(ToolDefinition);
type Tools = GenerateJob['tools'];

export interface PackedJob {
  /** Without its tools. */
  readonly job: Job;
  /** JSON; absent: there are none. */
  readonly tools?: string;
}

/** The same list has the same text, written once. */
export const toolsText = oncePer((tools: readonly ToolDefinition[]): string => writeJson(tools));

export function packedJob(job: Job): PackedJob {
  const tools = generationOf(job)?.tools ?? [];
  if (tools.length === 0) return { job };
  return { job: withTools(job, []), tools: toolsText(tools) };
}

/** Sets of tools that are kept for the next job with them, and the most characters that they were read from. */
const KEPT = { entries: 16, chars: 4_000_000 };

/** Reads packed jobs; equal tools are one and the same list. */
export class JobReader {
  readonly #sets = new RecentTexts<Tools>(KEPT);

  unpacked({ job, tools }: PackedJob): Job {
    return tools === undefined
      ? job
      : withTools(
          job,
          this.#sets.of(tools, () => readTools(tools)),
        );
  }
}

function readTools(text: string): Tools {
  const tools: unknown = parseSpelled(text);
  if (!Check(Tools, tools)) throw new Error('the tools of a job do not fit their schema');
  return tools;
}

function generationOf(job: Job): GenerateJob | undefined {
  if (job.kind === 'generate') return job;
  return job.kind === 'explain' ? job.job : undefined;
}

function withTools(job: Job, tools: Tools): Job {
  if (job.kind === 'generate') return { ...job, tools };
  if (job.kind === 'explain') return { ...job, job: { ...job.job, tools } } satisfies ExplainJob;
  return job;
}
