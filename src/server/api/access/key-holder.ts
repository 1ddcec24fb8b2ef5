import { takesNoSlot, type Job, type TextOrIds } from '../../../contract/job.ts';
import type { JobEvent } from '../../../contract/job-event.ts';
import type { AdmittedJob, JobGate, ModelTarget, Submission } from '../../engine/ports.ts';
import { fail, type SvcError } from '../../../lib/errors/svc-error.ts';
import { hashOfKey, type KeyRecord } from '../../../store/keys/key-file.ts';
import { OpenRequest } from './open-request.ts';
import { ownerOfRecord } from './owner.ts';
import type { Reservation, TokenBudget } from './token-budget.ts';

export interface HolderPorts {
  readonly budget: TokenBudget;
  readonly nowMs: () => number;
  readonly isLocal: (target: ModelTarget) => boolean;
  readonly onUse: () => void;
}

export interface KeyUse {
  readonly name: string;
  readonly openRequests: number;
  readonly tokensToday: number;
  readonly tokensPerDay: number | null;
}

export class KeyHolder implements JobGate {
  #record: KeyRecord;
  readonly #ports: HolderPorts;
  #openRequests = 0;

  constructor(record: KeyRecord, ports: HolderPorts) {
    this.#record = record;
    this.#ports = ports;
  }

  get record(): KeyRecord {
    return this.#record;
  }

  get owner(): string {
    return ownerOfRecord(this.#record);
  }

  get use(): KeyUse {
    const { name, tokensPerDay = null } = this.#record;
    const tokensToday = this.#ports.budget.used(name);
    return { name, openRequests: this.#openRequests, tokensToday, tokensPerDay };
  }

  with(record: KeyRecord): this {
    this.#record = record;
    return this;
  }

  /** Without a secret: whether the key itself still counts. */
  refusal(secret?: string): SvcError | null {
    const { name, expiresAt, replaced = [] } = this.#record;
    const isOver = (moment: string): boolean => this.#ports.nowMs() >= Date.parse(moment);
    if (expiresAt !== undefined && isOver(expiresAt)) return fail('key_expired', { name, since: expiresAt });
    const sha256 = secret === undefined ? null : hashOfKey(secret);
    const old = replaced.find((each) => each.sha256 === sha256);
    return old !== undefined && isOver(old.until) ? fail('key_rotated', { name, since: old.until }) : null;
  }

  /** Counts a request until everything that holds it has ended. Throws `key_busy`. */
  begin(): OpenRequest {
    const { name, maxRequests = Number.POSITIVE_INFINITY } = this.#record;
    if (this.#openRequests >= maxRequests) throw fail('key_busy', { name, limit: maxRequests });
    this.#openRequests += 1;
    return new OpenRequest(this, () => {
      this.#openRequests -= 1;
    });
  }

  mayUse(id: string): boolean {
    const { models } = this.#record;
    return models === undefined || models.includes(id);
  }

  isShown(id: string): boolean {
    return this.#record.admin || this.mayUse(id);
  }

  modelRefusal(model: string): SvcError {
    return fail('key_model_refused', { name: this.#record.name, model, param: 'model' });
  }

  admit({ target, job }: Submission): AdmittedJob {
    const { name, localOnly } = this.#record;
    const { modelId } = target;
    if (!this.mayUse(modelId)) throw this.modelRefusal(modelId);
    if (localOnly && !this.#ports.isLocal(target))
      throw fail('key_local_only', { name, model: modelId, param: 'model' });
    return localOnly ? { ...this.#counted(job), isLocalOnly: true } : this.#counted(job);
  }

  #counted(job: Job): AdmittedJob {
    if (takesNoSlot(job) || job.kind === 'explain') return { job, onEvent: () => null, onEnd: () => {} };
    const { prompt, answer } = mostTokens(job);
    const reservation = this.#reserve(prompt + answer);
    const held = reservation.tokens;
    // The prompt is counted later and often takes a quarter of its bytes, so the answer keeps at least half.
    const left = answer === 0 ? 0 : Math.min(answer, Math.max(held - prompt, Math.floor(held / 2)));
    const isShort = answer === 0 ? held < prompt : left < answer;
    // Ordinary answers may be cut, because they report it; signed ones and vectors are whole or refused.
    const mayBeCut = job.kind === 'generate' && job.lane === 'shared' && left > 0;
    if (isShort && !mayBeCut) {
      reservation.settle(0);
      throw this.#usedUp();
    }
    // The template adds tokens that only the engine can count, so the whole budget is reserved.
    const cut = isShort && job.kind === 'generate' ? { ...job, maxTokens: left, mostTokens: held } : job;
    return this.#watched(cut, { answer: left, isCut: isShort }, reservation);
  }

  #watched(
    job: Job,
    { answer, isCut }: { readonly answer: number; readonly isCut: boolean },
    reservation: Reservation,
  ): AdmittedJob {
    let prompt = 0;
    let written = 0;
    return {
      job,
      onEvent: (event) => {
        // An upstream may report the prompt's length only at the end.
        if (event.type === 'started' && job.kind === 'generate' && event.promptTokens > 0) {
          const { promptTokens } = event;
          // The count includes the template's tokens, so it can exceed the reservation.
          const hasEnough = isCut
            ? promptTokens < reservation.tokens
            : reservation.resize(promptTokens + answer);
          if (!hasEnough) return this.#usedUp();
          prompt = promptTokens;
        }
        if (event.type === 'done') prompt = Math.max(prompt, event.usage.promptTokens);
        written = writtenBy(event, written);
        return null;
      },
      onEnd: () => {
        const used = prompt + written;
        if (used > reservation.tokens) reservation.resize(used);
        reservation.settle(Math.min(used, reservation.tokens));
        this.#ports.onUse();
      },
    };
  }

  get #limit(): number {
    return this.#record.tokensPerDay ?? Number.POSITIVE_INFINITY;
  }

  #reserve(tokens: number): Reservation {
    return this.#ports.budget.reserve(this.#record.name, this.#limit, tokens);
  }

  #usedUp(): SvcError {
    const { name, tokensPerDay = 0 } = this.#record;
    const retryAfterS = Math.ceil(this.#ports.budget.nextDayMs / 1000);
    return fail('key_tokens_used', { name, limit: tokensPerDay, retryAfterS });
  }
}

const inputBound = (input: TextOrIds): number =>
  typeof input === 'string' ? textBound(input) : input.length;

/** Upper bound of a job's tokens from its input bytes; jobs for vectors and scores have no answer. */
function mostTokens(job: Exclude<Job, { kind: 'explain' | 'tokenize' | 'detokenize' | 'pin' }>) {
  switch (job.kind) {
    case 'generate': {
      const prompt = textBound(JSON.stringify([job.prompt, job.tools]));
      return { prompt, answer: Math.max(1, job.maxTokens ?? job.numCtx ?? MOST_UNNAMED_TOKENS) };
    }
    case 'embed':
      return { prompt: job.inputs.reduce((sum, input) => sum + inputBound(input), 0), answer: 0 };
    case 'rank': {
      const query = textBound(job.query);
      return { prompt: job.documents.reduce((sum, each) => sum + textBound(each) + query, 0), answer: 0 };
    }
  }
}

/** Upper bound for an answer without a limit: no automatic window is larger. */
const MOST_UNNAMED_TOKENS = 65_536;
const MARK_TOKENS = 4;

/** A token is at least one byte. */
const textBound = (text: string): number => Buffer.byteLength(text) + MARK_TOKENS;

function writtenBy(event: JobEvent, written: number): number {
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'tool_arguments':
      return written + (event.pieces ?? 1);
    case 'done':
      return event.usage.completionTokens;
    case 'embedded':
    case 'ranked':
      return event.totalTokens;
    default:
      return written;
  }
}
