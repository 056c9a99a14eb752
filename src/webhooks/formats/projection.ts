import { partsOf } from './native-event';
import type { WantedFields } from './field-paths';

/**
 * Returns a stored body with a part of its data: the wanted members, in the order of the data, byte for byte. An array on the way
 * is entered at each element; an element that is neither object nor array becomes `null`, and such a member is left out. Reads
 * each character of the data once. Throws SyntaxError for a body that is not as `JSON.stringify` writes it, which no stored body
 * is.
 */
export function projectedBody(body: string, wanted: WantedFields): string {
  const { dataAt, end } = partsOf(body);
  const data = wanted.size === 0 ? '{}' : new Projector(body, dataAt, end).all(wanted);
  return `${body.slice(0, dataAt)}${data}}`;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** In ASCII, this bit turns square brackets into braces. */
const UPPER = 0x20;

/** Reads a JSON text from `at` to `end`, and writes what is wanted. */
class Projector {
  private written = '';

  constructor(
    private readonly json: string,
    private at: number,
    private readonly end: number,
  ) {}

  all(wanted: WantedFields): string {
    if (!this.part(wanted)) this.written = 'null';
    if (this.at !== this.end) this.fail();
    return this.written;
  }

  /** Returns false, and writes nothing, when the value here is neither object nor array. */
  private part(wanted: WantedFields): boolean {
    const code = this.code();
    if (code === OPEN_OBJECT) this.object(wanted);
    else if (code === OPEN_LIST) this.list(wanted);
    else this.skip();
    return code === OPEN_OBJECT || code === OPEN_LIST;
  }

  private object(wanted: WantedFields): void {
    this.written += '{';
    let separator = '';
    for (this.at += 1; this.code() !== CLOSE_OBJECT; this.skipComma(CLOSE_OBJECT)) {
      const start = this.at;
      const inner = wanted.get(this.name());
      const before = this.written;
      if (inner) {
        this.written += separator + this.json.slice(start, this.at);
        if (!this.part(inner)) this.written = before;
      } else {
        this.skip();
        if (inner === null) this.written += separator + this.json.slice(start, this.at);
      }
      if (this.written !== before) separator = ',';
    }
    this.at += 1;
    this.written += '}';
  }

  private list(wanted: WantedFields): void {
    this.written += '[';
    let separator = '';
    for (this.at += 1; this.code() !== CLOSE_LIST; this.skipComma(CLOSE_LIST)) {
      this.written += separator;
      if (!this.part(wanted)) this.written += 'null';
      separator = ',';
    }
    this.at += 1;
    this.written += ']';
  }

  /** Reads the name of a member, and its colon. */
  private name(): string {
    const start = this.at;
    this.skipString();
    const text = this.json.slice(start, this.at);
    if (this.code() !== COLON) this.fail();
    this.at += 1;
    return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
  }

  private skip(): void {
    const start = this.at;
    let depth = 0;
    do {
      const code = this.code();
      if (code === QUOTE) this.skipString();
      else {
        if ((code | UPPER) === OPEN_OBJECT) depth += 1;
        else if ((code | UPPER) === CLOSE_OBJECT) depth -= 1;
        else if (depth === 0 && code === COMMA) break;
        if (depth < 0) break;
        this.at += 1;
      }
      if (depth === 0 && this.isEnd()) break;
    } while (this.at < this.end);
    if (this.at === start || depth > 0) this.fail();
  }

  /** After a value without a bracket still open: whether it is over. */
  private isEnd(): boolean {
    const code = this.json.charCodeAt(this.at);
    return code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT;
  }

  private skipString(): void {
    if (this.code() !== QUOTE) this.fail();
    let close = this.at;
    do close = this.json.indexOf('"', close + 1);
    while (close !== -1 && this.isEscaped(close));
    if (close === -1 || close >= this.end) this.fail();
    this.at = close + 1;
  }

  private isEscaped(at: number): boolean {
    let before = at;
    while (this.json.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    return (at - before) % 2 === 1;
  }

  private skipComma(close: number): void {
    const code = this.code();
    if (code === COMMA) this.at += 1;
    if (code !== COMMA ? code !== close : this.code() === close) this.fail();
  }

  private code(): number {
    return this.at < this.end ? this.json.charCodeAt(this.at) : this.fail();
  }

  private fail(): never {
    throw new SyntaxError(`The stored body of an event is not JSON at ${this.at}.`);
  }
}
