import {
  inspectGguf,
  inspectGgufPart,
  inspectModelOrAdapter,
  inspectProjector,
  readContents,
  readTensorShapes,
  readVocabularyFacts,
} from './inspect.ts';
import type { ErrorCode } from '../errors/catalogue.ts';

export const gateQuestions = {
  inspectGguf,
  inspectGgufPart,
  inspectModelOrAdapter,
  inspectProjector,
  readContents,
  readTensorShapes,
  readVocabularyFacts,
} as const;

export type GateQuestion = keyof typeof gateQuestions;
export type GateAnswer<Question extends GateQuestion> = Awaited<ReturnType<(typeof gateQuestions)[Question]>>;

export interface GateRequest {
  readonly question: GateQuestion;
  readonly path: string;
}

export type GateReply =
  | { readonly value: unknown }
  | { readonly failure: { readonly code: ErrorCode; readonly detail: Readonly<Record<string, unknown>> } };
