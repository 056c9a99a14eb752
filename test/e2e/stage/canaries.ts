/** A secret text, and the names of the places where the contract says that it is shown. */
export interface Canary {
  readonly name: string;
  readonly text: string;
  readonly shownAt?: readonly string[];
}

/** A place that was looked into, and everything that stood there. */
export interface Haystack {
  readonly place: string;
  readonly text: string;
}

/** Where a canary was found although it must not be there: `place: canary (form)`, each once. */
export function leaksIn(haystacks: readonly Haystack[], canaries: readonly Canary[]): string[] {
  const leaks = canaries.flatMap((canary) =>
    haystacks
      .filter(({ place }) => !canary.shownAt?.includes(place))
      .flatMap(({ place, text }) =>
        formsOf(canary.text)
          .filter(({ needle }) => text.includes(needle))
          .map(({ form }) => `${place}: ${canary.name} (${form})`),
      ),
  );
  return [...new Set(leaks)];
}

/** The text as it may look after somebody has encoded it, alone or in the middle of something longer. */
function formsOf(text: string): { form: string; needle: string }[] {
  const bytes = Buffer.from(text);
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replaceAll(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const base64 = [0, 1, 2].map((offset) => innerBase64(bytes, offset));
  return [
    { form: 'plain', needle: text },
    { form: 'escaped', needle: json },
    { form: 'escaped twice', needle: JSON.stringify(json).slice(1, -1) },
    { form: 'escaped as ASCII', needle: ascii },
    { form: 'percent-encoded', needle: encodeURIComponent(text) },
    ...base64.map((needle) => ({ form: 'base64', needle })),
    ...base64.map((needle) => ({ form: 'base64url', needle: needle.replaceAll('+', '-').replaceAll('/', '_') })),
    { form: 'hex', needle: bytes.toString('hex') },
    { form: 'hex', needle: bytes.toString('hex').toUpperCase() },
  ];
}

/** The part of its base64 that does not depend on what stands before and after it. */
function innerBase64(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replaceAll('=', '');
  return encoded.slice(Math.ceil((offset * 8) / 6), -2);
}
