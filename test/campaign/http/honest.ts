/** What a hostile request may be answered; a 500 never. */
const STATUSES = new Set([
  200, 400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 417, 429, 431, 501, 503, 505,
]);

export const isHonestStatus = (status: number): boolean => STATUSES.has(status);

/** A refusal says why. */
export const isHonest = (status: number, answer: string): boolean =>
  isHonestStatus(status) && (status < 400 || answer.includes('"'));
