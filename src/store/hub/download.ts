/**
 * Downloads one file of a hub into partial/, resumable after any interruption. Bytes of an earlier run are hashed
 * before they are continued, the whole is compared with the digest that the hub listed for the pinned commit, and
 * bytes beyond the declared size are never written.
 */
import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { fail } from '../../lib/errors/svc-error.ts';
import { type StepHook, writeAll, writeFailure } from '../../lib/files/durable.ts';
import type { OnInstallEvent } from '../install/install-event.ts';
import { MINIMUM_BYTES, whyNotGguf } from '../../../packages/gguf/src/gate/recognise.ts';
import { type HubAccess, invalid, requestHub, translate } from './hub-request.ts';
import { fileUrl, type RepositoryFile } from './repository.ts';
import { type RetryPolicy, withRetries } from './retry.ts';

export interface DownloadOptions {
  readonly access: HubAccess;
  readonly repo: string;
  readonly commit: string;
  readonly file: RepositoryFile;
  readonly target: string;
  readonly retries: RetryPolicy;
  readonly onEvent?: OnInstallEvent;
  readonly onStep?: StepHook;
  readonly signal?: AbortSignal;
}

/** Returns the SHA-256 of the complete, verified and synced file. */
export async function downloadFile(options: DownloadOptions): Promise<string> {
  const handle = await open(options.target, 'a+', 0o600).catch((error: unknown) => {
    throw writeFailure(options.target, error);
  });
  const download = new Download(options, handle);
  try {
    await download.continueExisting();
    await withRetries(options.retries, options, ({ progressed }) => download.run(progressed));
    await handle.sync();
    await options.onStep?.('download.synced');
    return download.digest();
  } catch (error) {
    if (download.isWorthless) await rm(options.target, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

const READ_BYTES = 512 * 1024;
const REPORT_BYTES = 1024 * 1024;

class Download {
  readonly #options: DownloadOptions;
  readonly #handle: FileHandle;
  #sha256: Hash = createHash('sha256');
  #gitSha1: Hash;
  #completed = 0;
  /** True while earlier bytes precede those of the current response. */
  #isPatched = false;
  /** Bytes complete when the current response began. */
  #progressMark = 0;
  #reported = 0;
  /** The received bytes can never become the file. */
  isWorthless = false;

  constructor(options: DownloadOptions, handle: FileHandle) {
    this.#options = options;
    this.#handle = handle;
    this.#gitSha1 = this.#newGitHash();
  }

  get #size(): number {
    return this.#options.file.sizeBytes;
  }

  digest(): string {
    return this.#sha256.copy().digest('hex');
  }

  async continueExisting(): Promise<void> {
    const { size } = await this.#handle.stat();
    if (size === 0) return;
    // Without a content digest, nothing could detect a wrong beginning later.
    if (size > this.#size || this.#options.file.sha256 === null) return this.#restart();
    const chunk = Buffer.allocUnsafe(READ_BYTES);
    while (this.#completed < size) {
      this.#options.signal?.throwIfAborted();
      const { bytesRead } = await this.#handle.read(chunk, 0, chunk.length, this.#completed);
      if (bytesRead === 0) break;
      this.#count(chunk.subarray(0, bytesRead));
      this.#report('verifying');
    }
    this.#tell('verifying');
    this.#isPatched = true;
    this.#reported = 0;
  }

  async run(progressed: () => void): Promise<void> {
    if (this.#completed < this.#size || this.#size === 0) await this.#fetchRest(progressed);
    if (this.#matches()) return;
    const wasPatched = this.#isPatched;
    const actual = this.digest();
    await this.#restart();
    // Mismatched pieces prove nothing about the file, so it is tried once more in one piece.
    if (wasPatched) return this.run(progressed);
    this.isWorthless = true;
    throw fail('digest_mismatch', {
      path: `${this.#options.repo}/${this.#options.file.path}`,
      param: 'ref',
      expected: this.#options.file.sha256 ?? `git ${this.#options.file.gitSha1}`,
      actual,
    });
  }

  async #fetchRest(progressed: () => void): Promise<void> {
    const { access, repo, commit, file, signal } = this.#options;
    const answer = await requestHub(access, {
      url: fileUrl(access, repo, commit, file.path),
      repo,
      what: `file ${file.path} in ${repo}`,
      ...(this.#completed > 0 ? { range: `bytes=${this.#completed}-` } : {}),
      ...(signal ? { signal } : {}),
    });
    try {
      await this.#checkStart(answer);
      await this.#append(answer);
    } catch (error) {
      throw translate(access, error);
    } finally {
      answer.destroy();
      this.#endOfAnswer(progressed);
    }
  }

  /** The next try appends the rest; a connection that brought enough does not count as a failed try. */
  #endOfAnswer(progressed: () => void): void {
    if (this.#completed > this.#progressMark + MIN_PROGRESS_BYTES) progressed();
    this.#progressMark = this.#completed;
    if (this.#completed > 0 && this.#completed < this.#size) this.#isPatched = true;
  }

  async #checkStart(answer: IncomingMessage): Promise<void> {
    const { access } = this.#options;
    if (answer.statusCode === 416) {
      await this.#restart();
      throw fail('hub_unreachable', {
        endpoint: access.endpoint.origin,
        reason: 'it cannot resume the download',
      });
    }
    if (answer.statusCode === 200 && this.#completed > 0) await this.#restart();
    if (answer.statusCode === 206) {
      const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.headers['content-range'] ?? '') ?? [];
      if (Number(start) !== this.#completed || Number(total) !== this.#size) {
        await this.#restart();
        throw fail('hub_unreachable', {
          endpoint: access.endpoint.origin,
          reason: 'it returned a different byte range than requested',
        });
      }
    }
    const length = Number(answer.headers['content-length'] ?? this.#size - this.#completed);
    if (length !== this.#size - this.#completed)
      throw invalid(access, `a file of ${length} bytes where ${this.#size - this.#completed} were announced`);
  }

  async #append(answer: IncomingMessage): Promise<void> {
    const { access, target, file, onStep } = this.#options;
    for await (const part of answer as AsyncIterable<Buffer>) {
      if (this.#completed + part.length > this.#size) {
        this.isWorthless = true;
        throw invalid(access, `more bytes than the ${this.#size} that were announced`);
      }
      if (this.#completed === 0) this.#checkMagic(part);
      await writeAll(this.#handle, part).catch((error: unknown) => {
        throw writeFailure(target, error);
      });
      this.#count(part);
      await onStep?.('download.chunk');
      this.#report('downloading');
    }
    if (this.#completed < this.#size) {
      throw fail('hub_unreachable', {
        endpoint: access.endpoint.origin,
        reason: `the connection ended ${this.#size - this.#completed} bytes before the end of ${file.path}`,
      });
    }
  }

  /** Detects a web page or a pointer file by its first bytes, not after gigabytes. */
  #checkMagic(start: Buffer): void {
    const reason = start.length < MINIMUM_BYTES ? null : whyNotGguf(start);
    if (reason === null) return;
    this.isWorthless = true;
    throw invalid(
      this.#options.access,
      `for ${this.#options.file.path} something that is not GGUF: ${reason}`,
    );
  }

  #count(bytes: Uint8Array): void {
    this.#sha256.update(bytes);
    if (this.#options.file.sha256 === null) this.#gitSha1.update(bytes);
    this.#completed += bytes.length;
  }

  #matches(): boolean {
    const { sha256, gitSha1 } = this.#options.file;
    if (this.#completed !== this.#size) return false;
    return sha256 === null ? this.#gitSha1.copy().digest('hex') === gitSha1 : this.digest() === sha256;
  }

  async #restart(): Promise<void> {
    await this.#handle.truncate(0).catch((error: unknown) => {
      throw writeFailure(this.#options.target, error);
    });
    this.#sha256 = createHash('sha256');
    this.#gitSha1 = this.#newGitHash();
    this.#completed = 0;
    this.#progressMark = 0;
    this.#isPatched = false;
    this.#reported = 0;
  }

  /** Git hashes a file after a short header with its size. */
  #newGitHash(): Hash {
    return createHash('sha1').update(`blob ${this.#size}\0`);
  }

  #report(status: 'downloading' | 'verifying'): void {
    const due = this.#reported + Math.max(REPORT_BYTES, this.#size / 200);
    if (this.#completed < due && this.#completed < this.#size) return;
    this.#reported = this.#completed;
    this.#tell(status);
  }

  #tell(status: 'downloading' | 'verifying'): void {
    const { file, onEvent } = this.#options;
    onEvent?.({
      status,
      file: file.path,
      ...(file.sha256 === null ? {} : { digest: `sha256:${file.sha256}` }),
      total: this.#size,
      completed: this.#completed,
    });
  }
}

/** Less than this per connection counts as no progress, so that a hub that drips is given up like a silent one. */
const MIN_PROGRESS_BYTES = 64 * 1024;
