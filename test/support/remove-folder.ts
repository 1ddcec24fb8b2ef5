import { rm } from 'node:fs/promises';

/** A process that a test has ended may still add a file while its folder is listed, so this tries more than once. */
export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
