import { Type } from 'typebox';
import { FROZEN_MODE } from '../headers.ts';
import { nullable } from '../schema.ts';

export const evidenceField = {
  svc_evidence: nullable<string>('string', {
    enum: [FROZEN_MODE, null],
    description:
      'frozen-v1: the answer is computed so that it can be repeated, and has a signed record; of a stream, in its last event.',
  }),
};

export const evidenceMember = {
  evidence: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
  ),
};
