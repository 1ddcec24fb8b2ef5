/** Downloads one file of a registry. The file exists only if it has its pinned hash. */
import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { fail, isFailure } from '../../lib/errors/svc-error.ts';
import { writeAll, writeFailure } from '../../lib/files/durable.ts';
import { PACKAGE_VERSION } from '../../lib/files/native-library.ts';
import { type HubAccess, requestHub, translate } from '../hub/hub-request.ts';
import { type RetryPolicy, withRetries } from '../hub/retry.ts';
import type { OnInstallEvent } from '../install/install-event.ts';
import { fullName, type LibraryPackage, SCOPE } from './packages.ts';
import type { PinnedFile } from './pinned-file.ts';

export interface PackageSource {
  readonly access: HubAccess;
  readonly registry: string;
  readonly retries: RetryPolicy;
  readonly onEvent: OnInstallEvent;
  readonly signal?: AbortSignal;
}

const REPORT_BYTES = 1024 * 1024;

export function downloadPackage(
  source: PackageSource,
  wanted: LibraryPackage,
  target: string,
): Promise<void> {
  const { name, integrity, downloadBytes } = wanted;
  const url = `${source.registry}/${SCOPE}/${name}/-/${name}-${PACKAGE_VERSION}.tgz`;
  return downloadPinned(source, { label: fullName(name), url, integrity, downloadBytes }, target);
}

export async function downloadPinned(
  source: PackageSource,
  wanted: PinnedFile,
  target: string,
): Promise<void> {
  const file = await open(target, 'ax', 0o600).catch((error: unknown) => {
    throw writeFailure(target, error);
  });
  const download = new Download(source, wanted, file);
  try {
    await withRetries(source.retries, source, ({ progressed }) => download.run(progressed));
    download.check();
  } catch (error) {
    await rm(target, { force: true });
    throw inWords(source, wanted, error);
  } finally {
    await file.close();
  }
}

/** Replaces the hub's messages: other settings lead to a registry. */
function inWords({ registry }: PackageSource, { label }: PinnedFile, error: unknown): unknown {
  const because = (reason: string): Error =>
    fail('library_unavailable', { package: label, registry, reason }, error);
  if (isFailure(error, 'hub_not_found')) return because('it has no such package');
  if (isFailure(error, 'hub_rate_limited')) return because('it limits the rate of requests');
  for (const code of ['hub_unreachable', 'hub_refused', 'hub_invalid', 'hub_unauthorized'] as const)
    if (isFailure(error, code)) return because(error.detail.reason);
  return error;
}

class Download {
  readonly #source: PackageSource;
  readonly #wanted: PinnedFile;
  readonly #file: FileHandle;
  #hash: Hash;
  #completed = 0;
  #reported = 0;

  constructor(source: PackageSource, wanted: PinnedFile, file: FileHandle) {
    this.#source = source;
    this.#wanted = wanted;
    this.#file = file;
    this.#hash = createHash(this.#algorithm);
  }

  async run(progressed: () => void): Promise<void> {
    const { access, signal } = this.#source;
    const { label, url } = this.#wanted;
    const answer = await requestHub(access, {
      url: new URL(url),
      repo: label,
      what: `package ${label}`,
      ...(this.#completed > 0 ? { range: `bytes=${this.#completed}-` } : {}),
      ...(signal === undefined ? {} : { signal }),
    });
    try {
      await this.#checkStart(answer);
      await this.#append(answer as AsyncIterable<Buffer>, progressed);
    } catch (error) {
      throw translate(access, error);
    } finally {
      answer.destroy();
    }
  }

  get #algorithm(): string {
    return this.#wanted.integrity.slice(0, this.#wanted.integrity.indexOf('-'));
  }

  check(): void {
    const actual = `${this.#algorithm}-${this.#hash.digest('base64')}`;
    if (actual === this.#wanted.integrity) return;
    throw this.#refused(`its hash is ${actual} where ${this.#wanted.integrity} was expected`);
  }

  /** A registry may continue the file or send it again from the start. */
  async #checkStart({ statusCode, headers }: IncomingMessage): Promise<void> {
    const [, start] = /^bytes (\d+)-/.exec(headers['content-range'] ?? '') ?? [];
    if (statusCode === 206 && Number(start) === this.#completed) return;
    if (this.#completed > 0) await this.#restart();
    if (statusCode === 200) return;
    const reason = 'it returned a different byte range than requested';
    throw fail('hub_unreachable', { endpoint: this.#source.access.endpoint.origin, reason });
  }

  async #append(answer: AsyncIterable<Buffer>, progressed: () => void): Promise<void> {
    const { downloadBytes, label } = this.#wanted;
    for await (const part of answer) {
      if (this.#completed + part.length > downloadBytes)
        throw this.#refused('it has more bytes than expected');
      await writeAll(this.#file, part).catch((error: unknown) => {
        throw writeFailure(label, error);
      });
      this.#hash.update(part);
      this.#completed += part.length;
      progressed();
      if (this.#completed - this.#reported >= REPORT_BYTES || this.#completed === downloadBytes)
        this.#report();
    }
    if (this.#completed < downloadBytes) {
      const reason = `the connection ended ${downloadBytes - this.#completed} bytes before the end of ${label}`;
      throw fail('hub_unreachable', { endpoint: this.#source.access.endpoint.origin, reason });
    }
  }

  async #restart(): Promise<void> {
    await this.#file.truncate(0);
    this.#hash = createHash(this.#algorithm);
    this.#completed = 0;
    this.#reported = 0;
  }

  #report(): void {
    this.#reported = this.#completed;
    const { label, downloadBytes: total } = this.#wanted;
    this.#source.onEvent({ status: 'downloading', file: label, total, completed: this.#completed });
  }

  #refused(reason: string): Error {
    return fail('library_refused', { package: this.#wanted.label, reason });
  }
}
