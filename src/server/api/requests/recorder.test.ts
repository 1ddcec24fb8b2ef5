import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import type { RequestText } from '../../../wire/operation/requests.ts';
import { type FinishedRequest, RECORDER_LIMITS, RequestRecorder } from './recorder.ts';

const finished = (id: string): FinishedRequest => ({
  request_id: id,
  started_ms: 1,
  method: 'POST',
  route: '/v1/chat/completions',
  stream: false,
  status: 200,
  client: 'c',
  total_ms: 5,
});
const text = (chars = 1): RequestText => {
  const message = { headers: {}, body: 'x'.repeat(chars), truncated: false };
  return { path: '/', request: message, response: message };
};
const newRecorder = (mode: 'off' | 'on' | 'text', clock = new ManualClock(0)) =>
  new RequestRecorder({ mode, textForMs: 1_000, clock });

describe('the flight recorder', () => {
  it('remembers the last requests, and finds one by its number or its id', () => {
    const recorder = newRecorder('on');
    for (let count = 1; count <= RECORDER_LIMITS.requests + 50; count += 1)
      recorder.add(finished(`r${count % 240}`), null, 'a');
    const { data } = recorder.list();
    expect(data).toHaveLength(RECORDER_LIMITS.requests);
    expect([data[0]?.number, data.at(-1)?.number]).toEqual([51, 250]);
    expect(recorder.list(248).data.map(({ number }) => number)).toEqual([249, 250]);
    expect(recorder.find('r10').number).toBe(250);
    expect(recorder.find('60').request_id).toBe('r60');
    expect(recorder.find('last').number).toBe(250);
    expect([recorder.requestId('60'), recorder.requestId('r60')]).toEqual(['r60', 'r60']);
    expect(() => recorder.find('50')).toThrow(/Request 50 is not in memory/);
  });

  it('keeps no text unless it is asked to, and forgets it when its time is over', async () => {
    const clock = new ManualClock(0);
    const plain = newRecorder('on', clock);
    plain.add(finished('a'), text(), 'a');
    expect(plain.find('a')).not.toHaveProperty('text');
    const recorder = newRecorder('text', clock);
    recorder.add(finished('a'), text(), 'a');
    expect(recorder.recording).toEqual({ kept: 200, text_until_ms: 1_000 });
    expect(recorder.find('a').text?.request.body).toBe('x');
    await clock.advance(1_000);
    recorder.add(finished('b'), text(), 'a');
    expect(recorder.details().some((detail) => detail.text !== undefined)).toBe(false);
    expect([recorder.wantsText, recorder.recording]).toEqual([false, { kept: 200 }]);
  });

  it('bounds all text together: the oldest goes first', () => {
    const recorder = newRecorder('text');
    for (let count = 0; count < 40; count += 1)
      recorder.add(finished(String(count)), text(RECORDER_LIMITS.bodyChars), 'a');
    const kept = recorder.list().data.map((view) => view.has_text);
    expect(kept.filter(Boolean)).toHaveLength(RECORDER_LIMITS.textChars / RECORDER_LIMITS.bodyChars / 2);
    expect(kept.lastIndexOf(false)).toBeLessThan(kept.indexOf(true));
  });

  it('keeps the requests and the text of one key, however much another sends', () => {
    const recorder = newRecorder('text');
    recorder.add(finished('mine'), text(), 'alice');
    for (let count = 0; count < RECORDER_LIMITS.requests + 50; count += 1)
      recorder.add(finished(String(count)), text(RECORDER_LIMITS.bodyChars), 'mallory');
    expect(recorder.find('mine').text?.request.body).toBe('x');
    expect(recorder.list().data).toHaveLength(RECORDER_LIMITS.requests);
  });

  it('remembers nothing when it is off', () => {
    const recorder = newRecorder('off');
    recorder.add(finished('a'), null, 'a');
    expect(recorder.list()).toEqual({ object: 'list', data: [], recording: { kept: 0 } });
  });
});
