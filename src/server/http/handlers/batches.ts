import { createReadStream } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import type { BatchUseCases } from '../../api/batches/batches.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import type { BatchesQuery, BatchRequest, FilesQuery } from '../../../wire/batches.ts';
import { requireOwner } from '../hooks.ts';
import type { Handler } from './handler.ts';
import { readForm } from './read-form.ts';

type Names =
  | 'sendFile'
  | 'files'
  | 'file'
  | 'fileContent'
  | 'deleteFile'
  | 'createBatch'
  | 'batches'
  | 'batch'
  | 'cancelBatch';

export function batchHandlers(batches: BatchUseCases | null): Record<Names, Handler> {
  const asked =
    (ask: (kept: BatchUseCases, owner: string, request: FastifyRequest) => Promise<unknown>): Handler =>
    async (request) => {
      if (batches === null) throw fail('batches_not_kept');
      return ask(batches, requireOwner(request), request);
    };
  return {
    sendFile: asked(async (kept, owner, request) => {
      const draft = await kept.receive(owner);
      const fields = await readForm(request, draft).catch(async (error: unknown) => {
        await draft.drop();
        throw error;
      });
      return kept.keep(draft, fields);
    }),
    files: asked((kept, owner, { query }) => kept.files(owner, query as FilesQuery)),
    file: asked((kept, owner, request) => kept.file(pathId(request), owner)),
    fileContent: async (request, reply) => {
      if (batches === null) throw fail('batches_not_kept');
      const { path, filename } = await batches.content(pathId(request), requireOwner(request));
      reply
        .type('application/octet-stream')
        .header('Content-Disposition', `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`);
      return createReadStream(path);
    },
    deleteFile: asked((kept, owner, request) => kept.deleteFile(pathId(request), owner)),
    createBatch: asked((kept, owner, { body }) => kept.create(body as BatchRequest, owner)),
    batches: asked((kept, owner, { query }) => kept.batches(owner, query as BatchesQuery)),
    batch: asked((kept, owner, request) => kept.batch(pathId(request), owner)),
    cancelBatch: asked((kept, owner, request) => kept.cancel(pathId(request), owner)),
  };
}

const pathId = ({ params }: FastifyRequest): string => (params as { id: string }).id;
