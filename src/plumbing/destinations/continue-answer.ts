const BEGINNING = Buffer.from('HTTP/1.1 100');
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Shows every `100 Continue` before an answer as `102 Processing`. A client has to read both, also when it did not ask for
 * them (RFC 9110, section 15.2), but undici takes the first for the end of the connection.
 */
export class ContinueAnswers {
  private awaitsAnswer = false;
  /** Bytes of `BEGINNING` that were read; all of them: within the head of a `100 Continue`. */
  private begun = 0;
  /** Bytes of `END_OF_HEAD` that were read last. */
  private ended = 0;

  /** A request is being sent: the next bytes begin an answer. */
  requested(): void {
    this.awaitsAnswer = true;
    this.begun = 0;
  }

  /** Changes the status in the bytes that were read. No byte is held back: the first one says that there is an answer. */
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
