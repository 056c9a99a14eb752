/** What may come next in a JSON text. */
export type Expected = 'value' | 'name' | 'colon' | 'comma' | 'end';

export interface JsonFault {
  /** Offset of the syntax error in UTF-16 units; null if it is unknown. */
  at: number | null;
  expected: Expected | null;
}

export interface JsonPlaces {
  /** Offsets by path, such as `data.lines[0].id`: of the name of a field, or of an element of a list. */
  of: ReadonlyMap<string, number>;
  fault: JsonFault | null;
}

type Wanted = Expected | 'first name' | 'first value';

interface Container {
  path: string;
  close: '}' | ']';
  /** Elements so far, of a list. */
  count: number;
}

/** The path of the whole text, as the service writes it. */
const ROOT = 'data';
/** Deeper values have no place: their paths could become as long as the text. */
const MOST_LEVELS = 64;
const BLANK = /[ \t\n\r]*/y;
const TOKEN =
  /[{}[\]:,]|"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Returns the syntax error of a text; null for valid JSON. */
export function jsonFaultOf(text: string): JsonFault | null {
  try {
    JSON.parse(text);
    return null;
  } catch {
    return placesOf(text).fault ?? { at: null, expected: null };
  }
}

/** Returns the places of all values up to 64 levels deep; of invalid JSON, those before the syntax error. */
export function placesOf(text: string): JsonPlaces {
  const reader = new PlaceReader();
  let at = 0;
  for (;;) {
    at += matchAt(BLANK, text, at)?.length ?? 0;
    const token = matchAt(TOKEN, text, at);
    if (token === undefined || !reader.take(token, at)) return { of: reader.places, fault: reader.faultAt(at, text) };
    at += token.length;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

class PlaceReader {
  readonly places = new Map<string, number>();
  private readonly open: Container[] = [];
  private wanted: Wanted = 'value';
  private path = ROOT;

  /** Takes the next token; returns false for a syntax error, and where the text is too deep. */
  take(token: string, at: number): boolean {
    switch (this.wanted) {
      case 'name':
      case 'first name':
        return token.startsWith('"') ? this.name(token, at) : this.wanted === 'first name' && this.closes(token);
      case 'colon':
        if (token !== ':') return false;
        this.wanted = 'value';
        return true;
      case 'comma':
        return token === ',' ? this.next() : this.closes(token);
      case 'end':
        return false;
      default:
        return this.wanted === 'first value' && token === ']' ? this.closes(token) : this.value(token, at);
    }
  }

  /** Returns the syntax error at the offset where reading ended; null at the end of the text, and where it is too deep. */
  faultAt(at: number, text: string): JsonFault | null {
    if (this.open.length > MOST_LEVELS || (this.wanted === 'end' && at === text.length)) return null;
    const expected = this.wanted === 'first name' ? 'name' : this.wanted === 'first value' ? 'value' : this.wanted;
    return { at, expected };
  }

  private name(token: string, at: number): boolean {
    this.path = `${this.open.at(-1)?.path}.${JSON.parse(token) as string}`;
    this.places.set(this.path, at);
    this.wanted = 'colon';
    return true;
  }

  private value(token: string, at: number): boolean {
    if (/^[}\]:,]/.test(token)) return false;
    if (!this.places.has(this.path)) this.places.set(this.path, at);
    if (token !== '{' && token !== '[') return this.ended();
    this.open.push({ path: this.path, close: token === '{' ? '}' : ']', count: 0 });
    this.wanted = token === '{' ? 'first name' : 'first value';
    if (token === '[') this.path += '[0]';
    return this.open.length <= MOST_LEVELS;
  }

  private next(): boolean {
    const container = this.open.at(-1);
    if (!container) return false;
    this.wanted = container.close === '}' ? 'name' : 'value';
    if (container.close === ']') this.path = `${container.path}[${++container.count}]`;
    return true;
  }

  private closes(token: string): boolean {
    if (token !== this.open.at(-1)?.close) return false;
    this.open.pop();
    return this.ended();
  }

  private ended(): boolean {
    this.wanted = this.open.length === 0 ? 'end' : 'comma';
    return true;
  }
}

/** Returns the offset of a field, or of the innermost value that should contain it; null for fields outside of the data. */
export function placeOf({ of }: JsonPlaces, field: string): number | null {
  if (!/^data(?![^.[])/.test(field)) return null;
  for (let path = field; path !== ''; path = path.replace(/(?:^|\.)[^.[\]]*$|\[\d+\]$/, '')) {
    const at = of.get(path);
    if (at !== undefined) return at;
  }
  return of.get(ROOT) ?? null;
}

/** Returns line and column of a place, from 1. */
export function lineAt(text: string, at: number): { line: number; column: number } {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
