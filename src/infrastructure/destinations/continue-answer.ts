const BEGINNING = Buffer.from('HTTP/1.1 100');
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Rewrites every `100 Continue` before a response to `102 Processing`. A client must accept both even if it did not ask
 * for them (RFC 9110, section 15.2), but undici treats the first as the end of the connection.
 */
export class ContinueAnswers {
  private awaitsAnswer = false;
  /** Number of `BEGINNING` bytes read; all of them: within the head of a `100 Continue`. */
  private begun = 0;
  /** Number of `END_OF_HEAD` bytes read last. */
  private ended = 0;

  /** Marks the sending of a request: the next bytes begin a response. */
  requested(): void {
    this.awaitsAnswer = true;
    this.begun = 0;
  }

  /** Rewrites the status in the bytes read. No byte is held back, because the first one shows that there is a response. */
  show(read: Buffer): void {
    for (let i = 0; this.awaitsAnswer && i < read.length; i++) {
      if (this.begun === BEGINNING.length) this.skip(read[i]);
      else if (read[i] !== BEGINNING[this.begun]) this.awaitsAnswer = false;
      else if (++this.begun === BEGINNING.length) read[i] = 0x32;
    }
  }

  private skip(byte: number | undefined): void {
    this.ended = byte === END_OF_HEAD[this.ended] ? this.ended + 1 : Number(byte === END_OF_HEAD[0]);
    if (this.ended === END_OF_HEAD.length) this.begun = this.ended = 0;
  }
}
