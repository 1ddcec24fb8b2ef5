import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import type { FileFields } from '../../api/batches/batches.ts';
import { fail, isSvcError } from '../../../lib/errors/svc-error.ts';

type Parts = InstanceType<typeof Busboy>;

const FORM_LIMITS = { fields: 16, fieldSize: 1024, fieldNameSize: 64, files: 1, parts: 17, headerPairs: 32 };

export async function readForm(
  request: FastifyRequest,
  file: { add(bytes: Buffer): Promise<void> },
): Promise<FileFields> {
  const fields = new Map<string, string>();
  let filename: string | null = null;
  const parts = openParser(request);
  parts.on('field', (name, value) => fields.set(name, value));
  const tooMuch = (): void => void parts.destroy(wrong('it has more parts than are read'));
  parts.on('partsLimit', tooMuch).on('fieldsLimit', tooMuch).on('filesLimit', tooMuch);
  let written: Promise<void> = Promise.resolve();
  parts.on('file', (name, stream, given) => {
    if (name !== 'file') return void stream.resume();
    filename = given ?? '';
    written = addAll(stream, file);
    written.catch((error: Error) => parts.destroy(error));
  });
  try {
    await finished(request.body as Readable, parts);
    await written;
  } catch (error) {
    throw isSvcError(error) ? error : wrong(error instanceof Error ? error.message : String(error), error);
  }
  if (filename === null) throw wrong('the part file is missing');
  return {
    filename,
    purpose: fields.get('purpose'),
    expiresAfter: fields.get('expires_after[seconds]'),
  };
}

function openParser({ headers }: FastifyRequest): Parts {
  try {
    return new Busboy({ headers: headers as BusboyHeaders, limits: FORM_LIMITS });
  } catch (error) {
    throw wrong('its Content-Type names no boundary', error);
  }
}

async function addAll(stream: Readable, file: { add(bytes: Buffer): Promise<void> }): Promise<void> {
  for await (const chunk of stream as AsyncIterable<Buffer>) await file.add(chunk);
}

/** The rest of a refused body is not read, and the response is sent anyway. */
function finished(body: Readable, parts: Parts): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      body.unpipe(parts);
      body.resume();
      reject(error);
    };
    parts.once('finish', resolve).once('error', failed);
    body.once('error', failed).once('aborted', () => failed(fail('cancelled')));
    body.pipe(parts);
  });
}

const wrong = (reason: string, cause?: unknown): Error =>
  fail(
    'invalid_request',
    {
      message: `The form is not usable: ${reason.replace(/\.$/, '')}; send multipart/form-data with the parts purpose and file.`,
      param: 'file',
    },
    cause,
  );
