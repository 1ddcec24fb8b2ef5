/**
 * ui/proof/browser owns Node's functions that a browser has not, as far as the verifier needs them. It knows nothing
 * of records. This file: node:crypto over WebCrypto. The verifier is synchronous and WebCrypto is not, so an unknown
 * result is thrown as a question; `settled` answers it and runs the pure verifier again until nothing is open.
 */
import { Buffer, type Bytes, latin1 } from './buffer.ts';

/** SPKI prefix of an Ed25519 key, followed by its 32 bytes. */
const ED25519_SPKI = '302a300506032b6570032100';
const SPKI_BYTES = 44;

type Answer = Uint8Array | boolean;

class Question extends Error {
  readonly key: string;
  readonly find: () => Promise<Answer>;

  constructor(key: string, find: () => Promise<Answer>) {
    super('WebCrypto has not answered yet');
    this.key = key;
    this.find = find;
  }
}

const answers = new Map<string, Answer>();

/** `work` must be pure, because it runs several times. */
export async function settled<Result>(work: () => Result): Promise<Result> {
  requireWebCrypto();
  while (true) {
    try {
      const result = work();
      answers.clear();
      return result;
    } catch (error) {
      if (!(error instanceof Question)) throw error;
      answers.set(error.key, await error.find());
    }
  }
}

function requireWebCrypto(): void {
  if (globalThis.crypto?.subtle !== undefined) return;
  throw new Error(
    'This browser computes no digests for a page from another machine over plain HTTP. Open the page on the machine itself, or over HTTPS.',
  );
}

function answerTo(key: string, find: () => Promise<Answer>): Answer {
  const answer = answers.get(key);
  if (answer === undefined) throw new Question(key, find);
  return answer;
}

interface Hash {
  update(content: Uint8Array | string): Hash;
  digest(): Bytes;
  digest(encoding: 'hex'): string;
}

export function createHash(_algorithm: 'sha256'): Hash {
  let content = Buffer.alloc(0);
  const digest = (encoding?: 'hex') => {
    const find = async () => new Uint8Array(await crypto.subtle.digest('SHA-256', content));
    const bytes = Buffer.from(answerTo(`sha256 ${latin1(content)}`, find) as Uint8Array);
    return encoding === undefined ? bytes : bytes.toString(encoding);
  };
  const hash: Hash = {
    update: (more) => {
      content = Buffer.concat([content, typeof more === 'string' ? Buffer.from(more) : more]);
      return hash;
    },
    digest: digest as Hash['digest'],
  };
  return hash;
}

export interface KeyObject {
  readonly asymmetricKeyType: 'ed25519';
  export(options: { type: 'spki'; format: 'der' }): Bytes;
}

export function createPublicKey(pem: string): KeyObject {
  const [, body = ''] =
    /^-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*$/.exec(pem) ?? [];
  const der = Buffer.from(body.replaceAll(/\s/g, ''), 'base64');
  if (der.length !== SPKI_BYTES || !der.toString('hex').startsWith(ED25519_SPKI))
    throw new Error('not an Ed25519 key');
  return { asymmetricKeyType: 'ed25519', export: () => der };
}

export function verify(
  _algorithm: null,
  content: Uint8Array,
  key: KeyObject,
  signature: Uint8Array,
): boolean {
  const der = key.export({ type: 'spki', format: 'der' });
  const question = ['ed25519', latin1(der), latin1(signature), latin1(content)].join(' ');
  return answerTo(question, async () => {
    const imported = await crypto.subtle.importKey('spki', der, 'Ed25519', false, ['verify']);
    return crypto.subtle.verify('Ed25519', imported, Buffer.from(signature), Buffer.from(content));
  }) as boolean;
}

/** Never called: a module that both signs and verifies imports the name. */
export function sign(): never {
  throw new Error('a browser holds no key of an instance');
}
