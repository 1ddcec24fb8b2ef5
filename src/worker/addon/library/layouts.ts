import koffi, { type TypeObject } from 'koffi';
import { STRUCTS } from '../../../../packages/llama-api/src/structs.ts';

export type * from '../../../../packages/llama-api/src/structs.ts';

const types = Object.fromEntries(
  Object.entries(STRUCTS).map(([name, members]) => [name, koffi.struct(name, members)]),
) as Readonly<Record<keyof typeof STRUCTS, TypeObject>>;

export const TokenData = types.llama_token_data;

export const LogCallback = koffi.proto('void llama_log_callback(int level, const char* text, void* user)');
export const ProgressCallback = koffi.proto('bool llama_progress_callback(float progress, void* user)');
