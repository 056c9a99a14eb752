import fc from 'fast-check';
import { childTraceparent, parseTraceparent, traceIdOf } from './traceparent';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const EXAMPLE = `00-${TRACE}-${PARENT}-01`;

describe('A traceparent', () => {
  it.each([
    ['the example of the specification', EXAMPLE, EXAMPLE],
    ['one that is not sampled', `00-${TRACE}-${PARENT}-00`, `00-${TRACE}-${PARENT}-00`],
    ['a random trace id', `00-${TRACE}-${PARENT}-03`, `00-${TRACE}-${PARENT}-03`],
    ['unknown flags', `00-${TRACE}-${PARENT}-fd`, `00-${TRACE}-${PARENT}-01`],
    ['a later version', `01-${TRACE}-${PARENT}-01`, EXAMPLE],
    ['a later version with more fields', `cc-${TRACE}-${PARENT}-01-what-the-future-brings`, EXAMPLE],
  ])('is parsed: %s', (_, header, expected) => {
    expect(parseTraceparent(header)).toBe(expected);
  });

  it.each([
    undefined,
    '',
    'garbage',
    `ff-${TRACE}-${PARENT}-01`,
    `0-${TRACE}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}0-01`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE}-${PARENT}-0g`,
    `00-${TRACE}-${PARENT}-01-`,
    `00-${TRACE}-${PARENT}-01-more`,
    `01-${TRACE}-${PARENT}-01more`,
    ` ${EXAMPLE}`,
    `${EXAMPLE}\n`,
    `${EXAMPLE}, ${EXAMPLE}`,
  ])('is ignored when it is %p', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });

  it('keeps its trace id and flags for the next request, under another parent id', () => {
    expect(childTraceparent(EXAMPLE, '00f067aa0ba902b7')).toBe(`00-${TRACE}-00f067aa0ba902b7-01`);
    expect(traceIdOf(EXAMPLE)).toBe(TRACE);
    expect(traceIdOf(null)).toBeNull();
  });

  it('is ignored or has the format of version 00, whatever is sent', () => {
    const hex = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
    const alike = fc.tuple(hex(2), hex(32), hex(16), hex(2)).map((parts) => parts.join('-'));
    fc.assert(
      fc.property(fc.oneof(fc.string(), alike), (header) => {
        const parsed = parseTraceparent(header);
        return (
          parsed === null ||
          (/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/.test(parsed) && parseTraceparent(parsed) === parsed)
        );
      }),
    );
  });
});
