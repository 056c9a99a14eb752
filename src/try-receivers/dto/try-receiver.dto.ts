import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { ApiTime } from '../../plumbing/validation/api-field.decorator';
import { TRY_ANSWERS, type TryAnswer, type TriedRequest, type TryReceiver } from '../try-receivers.service';

/** Numbers and a word: as the document says it. */
const ANSWER = {
  oneOf: [
    { type: 'integer', enum: [200, 500, 410] },
    { type: 'string', enum: ['silent'] },
  ],
} as never;

export class UpdateTryReceiverDto {
  /** What it answers from now on: 200, 500, 410, or nothing at all. */
  @ApiProperty(ANSWER)
  @IsIn(TRY_ANSWERS, { message: 'answer must be 200, 500, 410 or silent' })
  answer: TryAnswer;
}

export class TryReceiverDto {
  /** 32 hexadecimal digits. */
  id: string;

  /**
   * For a webhook.
   * @example http://127.0.0.1:3000/try/0123456789abcdef0123456789abcdef
   */
  url: string;

  /** What it answers. */
  @ApiProperty(ANSWER)
  answer: TryAnswer;

  /** When it is gone. */
  @ApiTime()
  expiresAt: string;

  static at(origin: string, { id, answer, expiresAt }: TryReceiver): TryReceiverDto {
    return { id, url: `${origin}/try/${id}`, answer, expiresAt: expiresAt.toISOString() };
  }
}

export class TriedRequestDto {
  /** When it came. */
  @ApiTime()
  receivedAt: string;

  /** Lower-case names. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  })
  headers: Readonly<Record<string, string | string[]>>;

  /** The first 64 KiB as text, with U+FFFD for invalid UTF-8 and for control characters other than tab and line breaks. */
  body: string;

  /** Whether there was more than is shown. */
  bodyTruncated: boolean;

  /** What it was answered. */
  @ApiProperty(ANSWER)
  answer: TryAnswer;

  static from({ receivedAt, ...request }: TriedRequest): TriedRequestDto {
    return { ...request, receivedAt: receivedAt.toISOString() };
  }
}

export class TryReceiverDetailDto extends TryReceiverDto {
  /** The last 20, the newest first. */
  requests: TriedRequestDto[];

  static override at(origin: string, receiver: TryReceiver): TryReceiverDetailDto {
    return { ...TryReceiverDto.at(origin, receiver), requests: receiver.requests.map(TriedRequestDto.from) };
  }
}
