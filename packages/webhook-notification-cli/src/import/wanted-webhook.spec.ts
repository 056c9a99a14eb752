import { descriptionOf, labelsOf, rateOf } from './wanted-webhook';

describe('What another system knows of a webhook', () => {
  it('becomes at most twenty labels', () => {
    const all = Array.from({ length: 21 }, (_, i): [string, string] => [`name-${i}`, 'x']);
    const { metadata, notes } = labelsOf([['-', 'x'], ['long', 'x'.repeat(201)], ...all]);
    expect(Object.keys(metadata)).toHaveLength(20);
    expect(notes.map((note) => /label (\S+)/.exec(note)?.[1])).toEqual(['-', 'long', 'name-20']);
  });

  it('becomes a description without what cannot be stored', () => {
    expect(descriptionOf('a\0b\ud83ec')).toEqual({ description: 'abc', notes: [] });
    expect(descriptionOf('x'.repeat(257))).toEqual({
      description: 'x'.repeat(256),
      notes: [/cut/].map(expect.stringMatching),
    });
  });

  it('becomes a rate within the bounds of the service', () => {
    expect([null, 0, 1, 1000, 1001].map((rate) => rateOf(rate).maxPerSecond)).toEqual([null, null, 1, 1000, 1000]);
    expect(rateOf(1001).notes).toHaveLength(1);
  });
});
