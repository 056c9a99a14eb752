import { firstDifference } from './first-difference';

const bytes = (text: string) => new TextEncoder().encode(text);
const between = (sent: string, received: string) => firstDifference(bytes(sent), bytes(received));

describe('The first difference', () => {
  it('is none between equal bodies', () => {
    expect(between('', '')).toBeNull();
    expect(between('{"a":"é"}', '{"a":"é"}')).toBeNull();
  });

  it('is shown with up to twenty bytes on each side', () => {
    const [before, after] = ['0123456789'.repeat(3), 'abcdefghij'.repeat(3)];
    expect(between(`${before}x${after}`, `${before}y${after}`)).toEqual({
      at: 30,
      sent: { before: before.slice(10), mark: 'x', byte: '0x78', after: after.slice(0, 20) },
      received: { before: before.slice(10), mark: 'y', byte: '0x79', after: after.slice(0, 20) },
    });
  });

  it.each([
    ['a line break', '\n', '⟨LF⟩'],
    ['a carriage return', '\r', '⟨CR⟩'],
    ['a tab', '\t', '⟨TAB⟩'],
    ['a space', ' ', '⟨SPACE⟩'],
    ['a control character', '\u0001', '⟨U+0001⟩'],
    ['a mark of direction', '\u202e', '⟨U+202E⟩'],
    ['a byte order mark', '\ufeff', '⟨U+FEFF⟩'],
  ])('makes %s visible', (_, char, visible) => {
    expect(between('ab', `a${char}b`)?.received).toMatchObject({ before: 'a', mark: visible, after: 'b' });
  });

  it('is the end of the shorter body', () => {
    const found = between('{}', '{}\r\n');
    expect(found?.sent).toEqual({ before: '{}', mark: null, byte: null, after: '' });
    expect(found?.received).toEqual({ before: '{}', mark: '⟨CR⟩', byte: '0x0D', after: '⟨LF⟩' });
  });

  it('is a whole character, also where its second byte differs', () => {
    const found = between('1éx', '1èx');
    expect(found?.at).toBe(2);
    expect(found?.sent).toEqual({ before: '1', mark: 'é', byte: '0xA9', after: 'x' });
    expect(found?.received).toEqual({ before: '1', mark: 'è', byte: '0xA8', after: 'x' });
  });

  it('names bytes that are no UTF-8', () => {
    const found = firstDifference(bytes('aéb'), Uint8Array.from([0x61, 0xe9, 0x62]));
    expect(found?.received).toEqual({ before: 'a', mark: '⟨0xE9⟩', byte: '0xE9', after: 'b' });
  });
});
