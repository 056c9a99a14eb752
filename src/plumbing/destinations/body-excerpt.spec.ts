import { BodyExcerpt } from './body-excerpt';

const excerptOf = (...chunks: (string | Buffer)[]) => {
  const excerpt = new BodyExcerpt(8, 16);
  for (const chunk of chunks) excerpt.add(Buffer.from(chunk));
  return excerpt;
};

describe('BodyExcerpt', () => {
  it('keeps a short body whole', () => {
    const excerpt = excerptOf('ab', 'cd');
    expect([excerpt.text(), excerpt.isCut, excerpt.isFull]).toEqual(['abcd', false, false]);
    expect(excerptOf().text()).toBe('');
  });

  it('keeps exactly as much as it may', () => {
    expect([excerptOf('12345678').text(), excerptOf('12345678').isCut]).toEqual(['12345678', false]);
    expect([excerptOf('1234', '56789').text(), excerptOf('1234', '56789').isCut]).toEqual(['12345678', true]);
  });

  it('is full once as much has gone by as may be read', () => {
    expect(excerptOf('123456789012345').isFull).toBe(false);
    expect(excerptOf('1234567890123456').isFull).toBe(true);
  });

  it('decodes characters that are split between chunks', () => {
    const euro = Buffer.from('€');
    expect(excerptOf('a', euro.subarray(0, 1), euro.subarray(1)).text()).toBe('a€');
  });

  it('puts U+FFFD for bytes that are no UTF-8', () => {
    expect(excerptOf(Buffer.from([0x61, 0xff, 0x62])).text()).toBe('a\ufffdb');
    expect(excerptOf(Buffer.from([0xe2, 0x82])).text()).toBe('\ufffd');
  });

  it('leaves out a character that the cut went through', () => {
    expect(excerptOf('1234567€').text()).toBe('1234567');
  });
});
