import fc from 'fast-check';
import { ContinueAnswers } from './continue-answer';

const CONTINUE = 'HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n';
const SHOWN = 'HTTP/1.1 102 Continue\r\nx-a: b\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\nHTTP/1.1 100';

describe('A 100 Continue', () => {
  /** Reads these chunks as if they followed a request. */
  function readOf(chunks: readonly string[], answers = new ContinueAnswers()): string {
    answers.requested();
    const read = chunks.map((chunk) => Buffer.from(chunk));
    for (const chunk of read) answers.show(chunk);
    return Buffer.concat(read).toString();
  }

  it.each([
    ['nothing before it', [OK], OK],
    ['one before it', [CONTINUE + OK], SHOWN + OK],
    ['several before it', [CONTINUE, CONTINUE + CONTINUE, OK], SHOWN.repeat(3) + OK],
    ['an unfinished one', ['HTTP/1.1 10', '0 x\r\n\rx\r\n'], 'HTTP/1.1 102 x\r\n\rx\r\n'],
  ])('is rewritten to a 102 when a response has %s', (_, chunks, read) => {
    expect(readOf(chunks)).toBe(read);
  });

  it('is rewritten wherever the bytes are split, and bodies stay unchanged', () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: (CONTINUE + OK).length - 1 }));
    fc.assert(
      fc.property(cuts, (at) => {
        const ends = [...at.sort((a, b) => a - b), Infinity];
        const chunks = ends.map((end, i) => (CONTINUE + OK).slice(ends[i - 1] ?? 0, end));
        return readOf(chunks) === SHOWN + OK;
      }),
    );
  });

  it('is detected again after the next request', () => {
    const answers = new ContinueAnswers();
    expect([readOf([OK], answers), readOf([CONTINUE + OK], answers)]).toEqual([OK, SHOWN + OK]);
  });
});
