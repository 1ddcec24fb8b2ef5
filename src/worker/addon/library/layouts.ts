import koffi, { type TypeObject } from 'koffi';
import { STRUCTS } from '../../../../packages/llama-api/src/structs.ts';

export type * from '../../../../packages/llama-api/src/structs.ts';

/** Every struct is registered under its C name, so that prototypes may name it. */
const types = Object.fromEntries(
  Object.entries(STRUCTS).map(([name, members]) => [name, koffi.struct(name, members)]),
) as Readonly<Record<keyof typeof STRUCTS, TypeObject>>;

/** One candidate of a sampler: 12 bytes on every platform. */
export const TokenData = types.llama_token_data;

export const LogCallback = koffi.proto('void llama_log_callback(int level, const char* text, void* user)');
export const ProgressCallback = koffi.proto('bool llama_progress_callback(float progress, void* user)');
