/** Circles of calls: each kind with the history that has it, and what looks like one and is none. */
import { expect, it } from 'vitest';
import type { Turn } from '../../../contract/job.ts';
import { CALL_LIMIT, CallHistory } from './call-guard.ts';

type Step = readonly [argumentsJson: string, result: string];

const GO = { role: 'user', content: 'Go.' } as const;
const turnsOf = (steps: readonly Step[]): Turn[] => [
  GO,
  ...steps.flatMap(([argumentsJson, content], at): Turn[] => [
    { role: 'assistant', content: '', toolCalls: [{ id: `c${at}`, name: 'run', argumentsJson }] },
    { role: 'tool', content, name: 'run', toolCallId: `c${at}` },
  ]),
];
const refused = (steps: readonly Step[], argumentsJson: string): boolean =>
  new CallHistory({ turns: turnsOf(steps), limit: CALL_LIMIT }).refusedAfter({ name: 'run', argumentsJson }) >
  0;

const times = (count: number, step: (at: number) => readonly Step[]): Step[] =>
  Array.from({ length: count }, (_, at) => step(at)).flat();
const A = '{"a":1,"b":"x y"}';
/** The same result but for what `at` says. */
const polled = (result: (at: number) => string): Step[] => times(9, (at) => [[A, result(at)]]);
const pad = (at: number): string => String(at).padStart(2, '0');

it.each<[string, Step[]]>([
  ['one call', times(5, () => [[A, 'same']])],
  [
    'two calls in turn',
    times(7, () => [
      [A, 'one'],
      ['{"a":2}', 'two'],
    ]),
  ],
  [
    'three calls in turn',
    times(7, () => [
      [A, 'one'],
      ['{"a":2}', 'two'],
      ['{"a":3}', 'three'],
    ]),
  ],
  [
    'one call whose members change places',
    times(5, (at) => [[at % 2 === 0 ? A : '{"b":"x y","a":1}', 'same']]),
  ],
  [
    'one call with other spaces between members',
    times(5, (at) => [[at % 2 === 0 ? A : ' { "a" : 1,\n"b":"x y" }', 'same']]),
  ],
  ['one call with other escapes', times(5, (at) => [[at % 2 === 0 ? A : '{"a":1,"b":"\\u0078 y"}', 'same']])],
  ['results with the time in them', polled((at) => `[2026-11-26T10:00:${pad(at)}.123Z] build failed`)],
  ['results with a date and a time', polled((at) => `2026-11-26 10:00:${pad(at)} build failed`)],
  ['results with a time of day', polled((at) => `10:00:${pad(at)} build failed`)],
  ['results with seconds that passed', polled((at) => `1 failed in ${at}.4${at}s`)],
  ['results with milliseconds', polled((at) => `ok 1 - adds (${at + 3} ms)\nnot ok 2 (${at}.71ms)`)],
  [
    "Codex's results, each with the id of its chunk",
    polled(
      (at) =>
        `Chunk ID: ${(at * 0x1f3d7 + 0xa1b2c3).toString(16)}\nWall time: 0.000${at} seconds\nProcess exited with code 1\nOutput:\ncat: nothing.txt: No such file`,
    ),
  ],
  ['results with the id of a session', polled((at) => `Process running with session ID ${at + 71}`)],
])('%s is a circle', (_, steps) => {
  expect(refused(steps, A)).toBe(true);
  // The last result would have to be another one.
  expect(refused([...steps, [A, 'something else']], A)).toBe(false);
});

it.each<[string, Step[]]>([
  ['a result that counts', polled((at) => `${at} files left`)],
  ['a result in percent', polled((at) => `${at} % of the build`)],
  ['a result with bytes', polled((at) => `${at} MB, ${at} s`)],
  ['a result with versions', polled((at) => `installed 1.${at}.0`)],
  ['a result with another line', polled((at) => `src/a.ts:${at}: error`)],
  ['a result with another id', polled((at) => `created issue ${at}`)],
  ['a result with another name', polled((at) => `10:00:00 started worker-${at}`)],
  ['other spaces inside of a text', times(9, (at) => [[`{"a":1,"b":"x${' '.repeat(at + 2)}y"}`, 'same']])],
  ['a call that is new since', [...times(5, () => [[A, 'same'] as const]), ['{"a":9}', 'new']]],
  ['four equal results', times(4, () => [[A, 'same']])],
])('%s is none', (_, steps) => {
  expect(refused(steps, A)).toBe(false);
});
