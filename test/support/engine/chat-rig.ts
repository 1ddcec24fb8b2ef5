/** A chat service of a worker without its process: jobs go in, and what it tells the server is kept. */
import { EventEmitter, once } from 'node:events';
import type { FromWorker } from '../../../src/contract/ipc.ts';
import type { GenerateJob } from '../../../src/contract/job.ts';
import type { JobEvent } from '../../../src/contract/job-event.ts';
import { ChatService } from '../../../src/worker/chat-service.ts';
import type { loadChat } from '../../../src/worker/load/chat.ts';
import { Outbox } from '../../../src/worker/outbox.ts';
import { generateJob } from './jobs.ts';

type Failed = Extract<FromWorker, { type: 'failed' }>;

export function chatRig(chat: Awaited<ReturnType<typeof loadChat>>, maxTokens: number) {
  const messages: FromWorker[] = [];
  const heard = new EventEmitter();
  const outbox = new Outbox((message, onSent) => {
    messages.push(message);
    heard.emit('message');
    setImmediate(onSent);
  });
  const chats = new ChatService(chat, outbox);
  const eventsOf = (jobId: string): JobEvent[] =>
    messages.flatMap((message) =>
      message.type === 'events'
        ? message.events.filter((each) => each.jobId === jobId).map(({ event }) => event)
        : [],
    );
  const failureOf = (jobId: string): Failed | undefined =>
    messages.find((message): message is Failed => message.type === 'failed' && message.jobId === jobId);
  const ended = async (jobId: string): Promise<JobEvent[]> => {
    while (failureOf(jobId) === undefined && eventsOf(jobId).at(-1)?.type !== 'done')
      await once(heard, 'message');
    return eventsOf(jobId);
  };
  /** The job, and its events once it has ended. */
  const run = async (fields: Partial<GenerateJob>) => {
    const job = generateJob({ maxTokens, ...fields });
    chats.submit(job);
    return { job, events: await ended(job.jobId) };
  };
  return { chats, failureOf, ended, run };
}
