import { describe, expect, it } from 'vitest';
import { asResponse, recordText } from './record-text.ts';

describe('the text of a record', () => {
  it('is that of its event, in the saved text of a stream', () => {
    const event = '{"choices":[],"evidence":{}}';
    const stream = [': queued 1: x', 'data: {"a":1}', `data: ${event}`, 'data: [DONE]', ''];
    for (const end of ['\n\n', '\r\n\r\n']) expect(recordText(stream.join(end))).toBe(event);
  });

  it('is the text itself where there is no such event', () => {
    for (const text of ['', '{}', 'data: {"a":1}\n\n', 'database: {"evidence":1}'])
      expect(recordText(text)).toBe(text);
  });
});

describe('a response', () => {
  it('is what a chunk says that the record is of', () => {
    const answer = { model: 'm', choices: [], usage: {} };
    const chunk = { id: 'x', choices: [], svc_answer: answer, evidence: { a: 1 } };
    expect(asResponse(chunk)).toEqual({ ...answer, evidence: { a: 1 } });
  });

  it('is the value itself where it is no chunk with an answer, or says something itself', () => {
    for (const value of [
      { svc_answer: {} },
      { choices: [], svc_answer: 1 },
      { choices: [{}], svc_answer: {} },
    ])
      expect(asResponse(value)).toBe(value);
  });
});
