import { describe, expect, it } from 'vitest';
import { asResponse, readSaved } from './record-text.ts';

const saved = (text: string) => readSaved(text);

describe('the saved text of a stream', () => {
  it('holds the record in one event, beside other events and lines', () => {
    const event = { choices: [], evidence: {} };
    const lines = [
      ': queued 1: x',
      'id: 7',
      'data: {"a":1}',
      `data: ${JSON.stringify(event)}`,
      'data: [DONE]',
      '',
    ];
    for (const end of ['\n\n', '\r\n\r\n', '\r']) {
      expect(saved(lines.join(end))).toEqual({
        value: event,
        stream: { events: [{ a: 1 }], fields: ['comments', 'id'] },
      });
    }
  });

  it('is malformed without a record, and any other text is one value', () => {
    expect(() => saved('data: {"a":1}\n\ndata: [DONE]')).toThrow('svc_evidence');
    expect(saved('{"evidence":1}')).toEqual({ value: { evidence: 1 }, stream: null });
  });
});

describe('a response', () => {
  it('is what a chunk says that the record is of', () => {
    const answer = { model: 'm', choices: [], usage: {} };
    const chunk = { id: 'x', choices: [], svc_answer: answer, evidence: { a: 1 } };
    expect(asResponse(chunk)).toEqual({ response: { ...answer, evidence: { a: 1 } }, unsigned: ['id'] });
  });

  it('is the value itself where it is no chunk with an answer, or says something itself', () => {
    for (const value of [
      { svc_answer: {} },
      { choices: [], svc_answer: 1 },
      { choices: [{}], svc_answer: {} },
    ])
      expect(asResponse(value)).toEqual({ response: value, unsigned: [] });
  });
});

describe('a long answer', () => {
  it('is read whole: vectors and log probabilities have far more values than a request may', () => {
    const vectors = Array.from({ length: 300 }, () => ({ embedding: Array(768).fill(0.5) }));
    const tokens = Array.from({ length: 9_000 }, () => ({
      top: Array.from({ length: 20 }, () => ({ logprob: -1, bytes: [1] })),
    }));
    for (const value of [{ data: vectors }, { choices: tokens }])
      expect(readSaved(JSON.stringify({ evidence: {}, ...value })).value).toMatchObject({ evidence: {} });
  });
});
