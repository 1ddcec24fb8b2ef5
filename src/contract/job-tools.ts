/**
 * A job's tools cross as one text because agents send the same tools with every turn, and an equal text is parsed
 * once. The answer schema crosses as text too, which keeps the spelling of its numbers.
 */
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { memoizeByObject } from '../lib/base/memoize-by-object.ts';
import { RecentTexts } from '../lib/base/recent-texts.ts';
import { parseSpelled } from '../lib/json/parse-spelled.ts';
import { writeJson } from '../lib/json/spelled-numbers.ts';
import { AnswerFormat, type ExplainJob, type GenerateJob, type Job, ToolDefinition } from './job.ts';

const Tools = Type.Array(ToolDefinition);
type Tools = GenerateJob['tools'];
type Parts = Partial<Pick<GenerateJob, 'tools' | 'format'>>;

interface PackedJob {
  readonly job: Job;
  readonly tools?: string;
  readonly schema?: string;
}

export const toolsText = memoizeByObject((tools: readonly ToolDefinition[]): string => writeJson(tools));

export function packedJob(job: Job): PackedJob {
  const generation = findGeneration(job);
  const { tools = [], format } = generation ?? {};
  const schema = format?.kind === 'json_schema' ? format.schema : null;
  const bare: Parts = {
    ...(tools.length > 0 && { tools: [] }),
    ...(schema !== null && { format: { kind: 'json_schema', schema: {} } }),
  };
  return {
    job: withParts(job, bare),
    ...(tools.length > 0 && { tools: toolsText(tools) }),
    ...(schema !== null && { schema: writeJson(schema) }),
  };
}

const KEPT = { entries: 16, chars: 4_000_000 };

/** Unpacks jobs; equal tool texts yield the same list object. */
export class JobReader {
  readonly #sets = new RecentTexts<Tools>(KEPT);

  unpacked({ job, tools, schema }: PackedJob): Job {
    return withParts(job, {
      ...(tools !== undefined && { tools: this.#sets.of(tools, () => readTools(tools)) }),
      ...(schema !== undefined && { format: readSchema(schema) }),
    });
  }
}

function readSchema(text: string): AnswerFormat {
  const format = { kind: 'json_schema', schema: parseSpelled(text) };
  if (!Check(AnswerFormat, format)) throw new Error('the schema of an answer is no object');
  return format;
}

function readTools(text: string): Tools {
  const tools: unknown = parseSpelled(text);
  if (!Check(Tools, tools)) throw new Error('the tools of a job do not fit their schema');
  return tools;
}

function findGeneration(job: Job): GenerateJob | undefined {
  if (job.kind === 'generate') return job;
  return job.kind === 'explain' ? job.job : undefined;
}

function withParts(job: Job, parts: Parts): Job {
  if (job.kind === 'generate') return { ...job, ...parts };
  if (job.kind === 'explain') return { ...job, job: { ...job.job, ...parts } } satisfies ExplainJob;
  return job;
}
