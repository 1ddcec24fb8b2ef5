/** A tiny model with each kind of memory: how a prompt is kept differs between them. */
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import {
  writeTinyHybrid,
  writeTinyRecurrent,
  writeTinySlidingWindow,
} from '../../tools/models/tiny-variants.ts';

export const MEMORY_KINDS = [
  ['whole', writeTinyChat],
  ['sliding window', writeTinySlidingWindow],
  ['recurrent', writeTinyRecurrent],
  ['hybrid', writeTinyHybrid],
] as const;
