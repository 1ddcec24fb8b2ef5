import path from 'node:path';

/** Cards of models, and the parts of unfinished runs. */
export const evalFolder = (home: string): string => path.join(home, 'evals');
