export function sharedPrefix(tokens: Uint32Array, prompt: Uint32Array, from: number): number {
  const most = Math.min(tokens.length, prompt.length - from);
  let at = 0;
  while (at < most && tokens[at] === prompt[from + at]) at += 1;
  return Math.max(0, at);
}
