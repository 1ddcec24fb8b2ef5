/** Who can read sent data: this machine only, the own network, or others. */
export const PRIVACIES = ['local', 'lan', 'remote'] as const;
export type Privacy = (typeof PRIVACIES)[number];

export const nearer = (...all: readonly Privacy[]): Privacy =>
  PRIVACIES.find((privacy) => all.includes(privacy)) ?? 'remote';
