const CONTINUE = 'HTTP/1.1 100';
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})[ \r\n]/;
/** Of a status line up to and including the character after its status. */
const STATUS_LENGTH = 13;
const [CR, LF] = [0x0d, 0x0a];

/**
 * Reads the status of a response, whatever follows it, because undici gives none for a response whose fields it rejects. Rewrites
 * every `100 Continue` before a response to `102 Processing`: a client must accept both even if it did not ask for them (RFC 9110,
 * section 15.2), but undici treats the first as the end of the connection.
 */
export class ContinueAnswers {
  /** The status of the response to the last request; null before, and for what is not HTTP. */
  status: number | null = null;
  private awaitsAnswer = false;
  /** The first bytes of the current head. */
  private line = '';
  private isInformational = false;
  /** Number of line ends read last: two of them end a head. */
  private lineEnds = 0;

  /** Marks the sending of a request: the next bytes begin a response. */
  requested(): void {
    this.awaitsAnswer = true;
    this.begin();
    this.status = null;
  }

  /** Rewrites the status in the bytes read. No byte is held back, because the first one shows that there is a response. */
  show(read: Buffer): void {
    for (let i = 0; this.awaitsAnswer && i < read.length; i++) {
      const byte = read[i] as number;
      if (this.isInformational) this.skip(byte);
      else {
        this.line += String.fromCharCode(byte);
        if (this.line === CONTINUE) read[i] = 0x32;
        if (this.line.length === STATUS_LENGTH) this.take(Number(STATUS_LINE.exec(this.line)?.[1] ?? 0), byte);
      }
    }
  }

  private take(status: number, last: number): void {
    this.isInformational = status >= 100 && status < 200;
    this.awaitsAnswer = this.isInformational;
    if (status >= 200) this.status = status;
    this.skip(last);
  }

  private skip(byte: number): void {
    if (byte === LF) this.lineEnds += 1;
    else if (byte !== CR) this.lineEnds = 0;
    if (this.lineEnds === 2) this.begin();
  }

  private begin(): void {
    this.line = '';
    this.isInformational = false;
    this.lineEnds = 0;
  }
}
