import { BodyExcerpt } from './exchange.client';

const excerptOf = (...chunks: (string | Buffer)[]) => {
  const excerpt = new BodyExcerpt(8, 16);
  for (const chunk of chunks) excerpt.add(Buffer.from(chunk));
  return excerpt;
};

describe('BodyExcerpt', () => {
  it('keeps a short body unchanged', () => {
    const excerpt = excerptOf('ab', 'cd');
    expect([excerpt.text(), excerpt.isCut, excerpt.isFull]).toEqual(['abcd', false, false]);
    expect(excerptOf().text()).toBe('');
  });

  it('keeps up to the maximum number of bytes', () => {
    expect([excerptOf('12345678').text(), excerptOf('12345678').isCut]).toEqual(['12345678', false]);
    expect([excerptOf('1234', '56789').text(), excerptOf('1234', '56789').isCut]).toEqual(['12345678', true]);
  });

  it('is full once the maximum number of bytes has been read', () => {
    expect(excerptOf('123456789012345').isFull).toBe(false);
    expect(excerptOf('1234567890123456').isFull).toBe(true);
  });

  it('decodes characters that are split between chunks', () => {
    const euro = Buffer.from('€');
    expect(excerptOf('a', euro.subarray(0, 1), euro.subarray(1)).text()).toBe('a€');
  });

  it('replaces invalid UTF-8 with U+FFFD', () => {
    expect(excerptOf(Buffer.from([0x61, 0xff, 0x62])).text()).toBe('a\ufffdb');
    expect(excerptOf(Buffer.from([0xe2, 0x82])).text()).toBe('\ufffd');
  });

  it('drops a character that was cut', () => {
    expect(excerptOf('1234567€').text()).toBe('1234567');
  });
});
