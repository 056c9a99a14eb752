import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { ApiTime } from '../../../infrastructure/validation/api-field.decorator';
import { TRY_ANSWERS, type TryAnswer, type TriedRequest, type TryReceiver } from '../test-receivers.service';

/** Declares both numbers and a string in the OpenAPI document. */
const ANSWER = {
  oneOf: [
    { type: 'integer', enum: [200, 500, 410] },
    { type: 'string', enum: ['silent'] },
  ],
} as never;

export class UpdateTestReceiverDto {
  /** Response of the receiver from now on: 200, 500, 410, or none at all. */
  @ApiProperty(ANSWER)
  @IsIn(TRY_ANSWERS, { message: 'answer must be 200, 500, 410 or silent' })
  answer: TryAnswer;
}

export class TestReceiverDto {
  /** 32 hexadecimal digits. */
  id: string;

  /**
   * URL for a webhook.
   * @example http://127.0.0.1:3000/try/0123456789abcdef0123456789abcdef
   */
  url: string;

  /** Response of the receiver. */
  @ApiProperty(ANSWER)
  answer: TryAnswer;

  /** When the receiver expires. */
  @ApiTime()
  expiresAt: string;

  static at(origin: string, { id, answer, expiresAt }: TryReceiver): TestReceiverDto {
    return { id, url: `${origin}/try/${id}`, answer, expiresAt: expiresAt.toISOString() };
  }
}

export class TestReceiverRequestDto {
  /** When the request was received. */
  @ApiTime()
  receivedAt: string;

  /** Headers of the request, with lowercase names. */
  @ApiProperty({ type: 'object', additionalProperties: true })
  headers: Readonly<Record<string, string | string[]>>;

  /** The first 64 KiB as text, with U+FFFD for invalid UTF-8 and for control characters other than tab and line breaks. */
  body: string;

  /** Whether the body was longer. */
  bodyTruncated: boolean;

  /** Response that the request received. */
  @ApiProperty(ANSWER)
  answer: TryAnswer;

  static from({ receivedAt, ...request }: TriedRequest): TestReceiverRequestDto {
    return { ...request, receivedAt: receivedAt.toISOString() };
  }
}

export class TestReceiverDetailDto extends TestReceiverDto {
  /** The last 20 requests, newest first. */
  requests: TestReceiverRequestDto[];

  static override at(origin: string, receiver: TryReceiver): TestReceiverDetailDto {
    return { ...TestReceiverDto.at(origin, receiver), requests: receiver.requests.map(TestReceiverRequestDto.from) };
  }
}
