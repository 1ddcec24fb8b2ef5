import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { builtFile } from '../base/package-folder.ts';
import { reviveFailure } from '../errors/svc-error.ts';
import type { ErrorCode } from '../errors/catalogue.ts';
import { gateQuestions } from './inspect.ts';

type GateQuestion = keyof typeof gateQuestions;
type GateAnswer<Question extends GateQuestion> = Awaited<ReturnType<(typeof gateQuestions)[Question]>>;

export interface GateRequest {
  readonly question: GateQuestion;
  readonly path: string;
}

export type GateReply =
  | { readonly value: unknown }
  | { readonly failure: { readonly code: ErrorCode; readonly detail: Readonly<Record<string, unknown>> } };

/** Up to this size a header takes a few milliseconds; a thread takes fifty to start. */
const SMALL_BYTES = 2 ** 20;

export async function runGate<Question extends GateQuestion>(
  question: Question,
  path: string,
): Promise<GateAnswer<Question>> {
  const sizeBytes = await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
  const value = sizeBytes <= SMALL_BYTES ? gateQuestions[question](path) : inThread({ question, path });
  return (await value) as GateAnswer<Question>;
}

async function inThread(request: GateRequest): Promise<unknown> {
  const thread = new Worker(builtFile('lib/gguf/gate-thread.js'), {
    workerData: request,
    execArgv: [],
  });
  try {
    const [reply] = (await once(thread, 'message')) as [GateReply];
    if ('value' in reply) return reply.value;
    const { code, detail } = reply.failure;
    throw reviveFailure(code, detail) ?? new Error(`the gate's thread reports ${code} without its details`);
  } finally {
    await thread.terminate();
  }
}
